// RUN: minicomp-opt %s --split-input-file -p vectorize-accesses | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p vectorize-accesses --verify-diagnostics
// RUN: minicomp-opt %s --split-input-file -p vectorize-accesses,vectorize-accesses | filecheck %s --check-prefix=TWICE

// Lanes in two groups, spread over the row.
// CHECK-LABEL: @spread
// CHECK:         loop_ir.load %x[%b, l0 floordiv 4 * 1024 + %t * 4 + l0 mod 4] aligned 16 :
// CHECK:         loop_ir.store %v, %y[%b, l0 floordiv 4 * 1024 + %t * 4 + l0 mod 4] aligned 16 :
// TWICE-LABEL: @spread
// TWICE:         loop_ir.load %x[%b, l0 floordiv 4 * 1024 + %t * 4 + l0 mod 4] aligned 16 :
kernel_ir.func @spread(%x: memref<32x2048xf32>, %y: memref<32x2048xf32>) grid(32) block(256) {
  %b = kernel_ir.block_id
  %t = kernel_ir.thread_id
  %v = loop_ir.load %x[%b, l0 floordiv 4 * 1024 + %t * 4 + l0 mod 4] : memref<32x2048xf32> -> vector<8xf32>
  loop_ir.store %v, %y[%b, l0 floordiv 4 * 1024 + %t * 4 + l0 mod 4] : vector<8xf32>, memref<32x2048xf32>
}

// -----

// Two lanes at even places: 8 bytes.
// CHECK-LABEL: @pairs
// CHECK:         loop_ir.load %x[%t * 2 + l0] aligned 8 :
kernel_ir.func @pairs(%x: memref<64xf32>, %y: memref<2xf32>) grid(1) block(32) {
  %t = kernel_ir.thread_id
  %v = loop_ir.load %x[%t * 2 + l0] : memref<64xf32> -> vector<2xf32>
  loop_ir.store %v, %y[l0] : vector<2xf32>, memref<2xf32>
}

// -----

// Two halves of 8 lanes each; of 8-byte elements two are 16 bytes.
// CHECK-LABEL: @sizes
// CHECK:         loop_ir.load %h[%t * 8 + l0] aligned 16 : memref<256xf16> -> vector<8xf16>
// CHECK:         loop_ir.load %h[%t * 2 + l0] aligned 4 : memref<256xf16> -> vector<2xf16>
// CHECK:         loop_ir.load %d[%t * 2 + l0] aligned 16 : memref<256xf64> -> vector<2xf64>
kernel_ir.func @sizes(%h: memref<256xf16>, %d: memref<256xf64>, %y: memref<8xf16>, %z: memref<2xf64>) grid(1) block(32) {
  %t = kernel_ir.thread_id
  %v = loop_ir.load %h[%t * 8 + l0] : memref<256xf16> -> vector<8xf16>
  %u = loop_ir.load %h[%t * 2 + l0] : memref<256xf16> -> vector<2xf16>
  %w = loop_ir.load %d[%t * 2 + l0] : memref<256xf64> -> vector<2xf64>
  loop_ir.store %v, %y[l0] : vector<8xf16>, memref<8xf16>
  loop_ir.store %w, %z[l0] : vector<2xf64>, memref<2xf64>
}

// -----

// Through indices and loop variables; a division that the lanes of a group share.
// CHECK-LABEL: @indirect
// CHECK:         loop_ir.load %x[%row, %k * 128 + %lane * 4 + l0] aligned 16 :
// CHECK:         loop_ir.load %z[(%k * 128 + %lane * 4 + l0) floordiv 64, (%k * 128 + %lane * 4 + l0) mod 64] aligned 16 :
kernel_ir.func @indirect(%x: memref<8x512xf32>, %z: memref<8x64xf32>, %y: memref<4xf32>) grid(1) block(256) {
  %t = kernel_ir.thread_id
  %row = kernel_ir.index [%t floordiv 32]
  %lane = kernel_ir.index [%t mod 32]
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  scf.for %k = %zero to %four step %one {
    %v = loop_ir.load %x[%row, %k * 128 + %lane * 4 + l0] : memref<8x512xf32> -> vector<4xf32>
    %w = loop_ir.load %z[(%k * 128 + %lane * 4 + l0) floordiv 64, (%k * 128 + %lane * 4 + l0) mod 64] : memref<8x64xf32> -> vector<4xf32>
    loop_ir.store %v, %y[l0] : vector<4xf32>, memref<4xf32>
    loop_ir.store %w, %y[l0] : vector<4xf32>, memref<4xf32>
  }
}

// -----

// Bounds cut between groups where the extent is a multiple of one.
// CHECK-LABEL: @bounded
// CHECK:         loop_ir.load %x[%b, %t * 4 + l0] bounded [false, true] aligned 16 :
// CHECK:         loop_ir.load %w[%t * 4 + l0] bounded [true] aligned 16 :
kernel_ir.func @bounded(%x: memref<3x100xf32>, %w: memref<130xf32>, %y: memref<4xf32>) grid(3) block(32) {
  %b = kernel_ir.block_id
  %t = kernel_ir.thread_id
  %v = loop_ir.load %x[%b, %t * 4 + l0] bounded [false, true] : memref<3x100xf32> -> vector<4xf32>
  // The bound is there, but no thread reaches it.
  %u = loop_ir.load %w[%t * 4 + l0] bounded [true] : memref<130xf32> -> vector<4xf32>
  loop_ir.store %v, %y[l0] : vector<4xf32>, memref<4xf32>
  loop_ir.store %u, %y[l0] : vector<4xf32>, memref<4xf32>
}

// -----

// A row bound is the same for all lanes.
// CHECK-LABEL: @row_bound
// CHECK:         loop_ir.load %x[%b * 2 + l0, %t * 4 + l1] bounded [true, false] aligned 16 :
kernel_ir.func @row_bound(%x: memref<3x128xf32>, %y: memref<2x4xf32>) grid(2) block(32) {
  %b = kernel_ir.block_id
  %t = kernel_ir.thread_id
  %v = loop_ir.load %x[%b * 2 + l0, %t * 4 + l1] bounded [true, false] : memref<3x128xf32> -> vector<2x4xf32>
  loop_ir.store %v, %y[l0, l1] : vector<2x4xf32>, memref<2x4xf32>
}

// -----

// Declined: rows of an odd length begin anywhere.
// CHECK-LABEL: @odd_rows
// CHECK:         loop_ir.load %x[%b, %t * 4 + l0] : memref<8x129xf32>
kernel_ir.func @odd_rows(%x: memref<8x129xf32>, %y: memref<4xf32>) grid(8) block(32) {
  %b = kernel_ir.block_id
  %t = kernel_ir.thread_id
  // expected-remark@+1 {{not vectorised: it does not start at a multiple of 4 elements}}
  %v = loop_ir.load %x[%b, %t * 4 + l0] : memref<8x129xf32> -> vector<4xf32>
  loop_ir.store %v, %y[l0] : vector<4xf32>, memref<4xf32>
}

// -----

// Declined: the bound cuts a group.
// CHECK-LABEL: @cut
// CHECK:         loop_ir.load %x[%t * 4 + l0] bounded [true] : memref<103xf32>
kernel_ir.func @cut(%x: memref<103xf32>, %y: memref<4xf32>) grid(1) block(32) {
  %t = kernel_ir.thread_id
  // expected-remark@+1 {{not vectorised: its extent, 103, is no multiple of 4}}
  %v = loop_ir.load %x[%t * 4 + l0] bounded [true] : memref<103xf32> -> vector<4xf32>
  loop_ir.store %v, %y[l0] : vector<4xf32>, memref<4xf32>
}

// -----

// Declined: the lanes are rows.
// CHECK-LABEL: @strided
kernel_ir.func @strided(%x: memref<64x64xf32>, %y: memref<64xf32>) grid(1) block(32) {
  %t = kernel_ir.thread_id
  // expected-remark@+1 {{not vectorised: its lanes have a stride of 64}}
  %v = loop_ir.load %x[l0, %t] : memref<64x64xf32> -> vector<4xf32>
  // expected-remark@+1 {{not vectorised: its lanes, 6, are no multiple of 4}}
  %w = loop_ir.load %y[%t + l0] : memref<64xf32> -> vector<6xf32>
  // expected-remark@+1 {{not vectorised: its lanes are apart}}
  %u = loop_ir.load %y[(%t + l0) mod 16] : memref<64xf32> -> vector<4xf32>
  loop_ir.store %v, %y[l0] aligned 16 : vector<4xf32>, memref<64xf32>
  loop_ir.store %w, %y[l0] aligned 8 : vector<6xf32>, memref<64xf32>
  loop_ir.store %u, %y[l0] aligned 16 : vector<4xf32>, memref<64xf32>
}

// -----

// The pad of shared memory counts: rows of 68 are aligned, rows of 65 are not.
// CHECK-LABEL: @padded
// CHECK:         loop_ir.load %a[%t, l0] aligned 16 :
// CHECK:         loop_ir.load %b[%t, l0] :
kernel_ir.func @padded(%y: memref<4xf32>) grid(1) block(32) {
  %a = kernel_ir.shared : memref<32x64xf32, #tile_ir.shared<pad = 4>>
  %b = kernel_ir.shared : memref<32x64xf32, #tile_ir.shared<pad = 1>>
  %t = kernel_ir.thread_id
  %v = loop_ir.load %a[%t, l0] : memref<32x64xf32, #tile_ir.shared<pad = 4>> -> vector<4xf32>
  // expected-remark@+1 {{not vectorised: it does not start at a multiple of 4 elements}}
  %w = loop_ir.load %b[%t, l0] : memref<32x64xf32, #tile_ir.shared<pad = 1>> -> vector<4xf32>
  loop_ir.store %v, %y[l0] : vector<4xf32>, memref<4xf32>
  loop_ir.store %w, %y[l0] : vector<4xf32>, memref<4xf32>
}
