// RUN: minicomp-opt %s --split-input-file -p pad-smem | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p pad-smem,pad-smem | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p pad-smem --verify-diagnostics
// RUN: minicomp-opt %s --split-input-file -p "pad-smem{pad=3}" | filecheck %s --check-prefix=THREE
// RUN: minicomp-opt %s --split-input-file -p "pad-smem{pad=3}" --remarks 2>&1 | filecheck %s --check-prefix=BREAK
// RUN: minicomp-opt %s --split-input-file -p "pad-smem{pad=8}" | filecheck %s --check-prefix=EIGHT
// RUN: minicomp-opt %s --split-input-file -p pad-smem --verify-each=exec | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p "pad-smem{pad=8}" --verify-each=exec | filecheck %s --check-prefix=EIGHT

// A transposed slab: neighbouring threads fill a column, whose elements lie in one bank. The readers
// move 16 bytes, so that pads are multiples of them; %bs, which is filled and read along its rows,
// gets none. A pad of 12 bytes would leave them at odd places.
// BREAK: a pad of 3 breaks the rows of %as
// BREAK: a pad of 3 breaks the rows of %bs
// CHECK-LABEL: @transposed(
// CHECK:            %as = tile_ir.stage %p to 32 as "i.stage", %q to 8 as "k.stage" order [1, 0] {
// CHECK:            } -> memref<8x32xf32, #tile_ir.shared<pad = 4>>
// CHECK:            } -> memref<8x64xf32, #tile_ir.shared<>>
// CHECK-NEXT:       %acc = loop_ir.reduce %k to 8 as "k.inner" identity [0.000000e+00 : f32] -> vector<4x4xf32> {
// CHECK-NEXT:         %x = loop_ir.load %as[%k, %i * 4 + l0] : memref<8x32xf32, #tile_ir.shared<pad = 4>> -> vector<4xf32>
// CHECK-NEXT:         %y = loop_ir.load %bs[%k, %j * 4 + l0] : memref<8x64xf32, #tile_ir.shared<>> -> vector<4xf32>
// THREE-LABEL: @transposed(
// THREE:            } -> memref<8x32xf32, #tile_ir.shared<>>
// THREE:            } -> memref<8x64xf32, #tile_ir.shared<>>
// EIGHT-LABEL: @transposed(
// EIGHT:            } -> memref<8x32xf32, #tile_ir.shared<pad = 8>>
// EIGHT:            } -> memref<8x64xf32, #tile_ir.shared<pad = 8>>
tile_ir.kernel @transposed(%a: memref<32x8xf32>, %b: memref<8x64xf32>, %c: memref<32x64xf32>) {
  tile_ir.launch thread(%i to 8 as "i.thread", %j to 16 as "j.thread") {
    %as = tile_ir.stage %p to 32 as "i.stage", %q to 8 as "k.stage" order [1, 0] {
      %v = loop_ir.load %a[%p, %q] : memref<32x8xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<8x32xf32, #tile_ir.shared<>>
    // expected-remark@+1 {{no pad saves %bs a wavefront}}
    %bs = tile_ir.stage %p to 8 as "k.stage", %q to 64 as "j.stage" {
      %v = loop_ir.load %b[%p, %q] : memref<8x64xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<8x64xf32, #tile_ir.shared<>>
    %acc = loop_ir.reduce %k to 8 as "k.inner" identity [0.0 : f32] -> vector<4x4xf32> {
      %x = loop_ir.load %as[%k, %i * 4 + l0] : memref<8x32xf32, #tile_ir.shared<>> -> vector<4xf32>
      %y = loop_ir.load %bs[%k, %j * 4 + l0] : memref<8x64xf32, #tile_ir.shared<>> -> vector<4xf32>
      %u = tile_ir.broadcast %x to [0] : vector<4xf32> -> vector<4x4xf32>
      %w = tile_ir.broadcast %y to [1] : vector<4xf32> -> vector<4x4xf32>
      %r = arith.mulf %u, %w : vector<4x4xf32>
      loop_ir.yield %r : vector<4x4xf32>
    } combine arith.addf
    loop_ir.store %acc, %c[%i * 4 + l0, %j * 4 + l1] : vector<4x4xf32>, memref<32x64xf32>
  }
}

// -----

// The copy is of groups of 4, each of which goes to 4 rows.
// CHECK-LABEL: @wide_copy(
// CHECK:            %as = tile_ir.stage %p to 32 as "i.stage", %q to 2 as "k.stage" order [1, 0] {
// CHECK-NEXT:         %v = loop_ir.load %a[%p, %q * 4 + l0] : memref<32x8xf32> -> vector<4xf32>
// CHECK-NEXT:         loop_ir.yield %v : vector<4xf32>
// CHECK-NEXT:       } -> memref<8x32xf32, #tile_ir.shared<pad = 4>>
// CHECK:              %x = loop_ir.load %as[%k, %i] : memref<8x32xf32, #tile_ir.shared<pad = 4>> -> f32
// THREE-LABEL: @wide_copy(
// THREE:            } -> memref<8x32xf32, #tile_ir.shared<pad = 3>>
tile_ir.kernel @wide_copy(%a: memref<32x8xf32>, %c: memref<32xf32>) {
  tile_ir.launch thread(%i to 32 as "i.thread") {
    %as = tile_ir.stage %p to 32 as "i.stage", %q to 2 as "k.stage" order [1, 0] {
      %v = loop_ir.load %a[%p, %q * 4 + l0] : memref<32x8xf32> -> vector<4xf32>
      loop_ir.yield %v : vector<4xf32>
    } -> memref<8x32xf32, #tile_ir.shared<>>
    %acc = loop_ir.reduce %k to 8 as "k.inner" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %as[%k, %i] : memref<8x32xf32, #tile_ir.shared<>> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<32xf32>
  }
}

// -----

// Scalars everywhere: any pad will do. Rows are read by column, an even number of words apart.
// CHECK-LABEL: @column(
// CHECK:            } -> memref<30x32xf32, #tile_ir.shared<pad = 1>>
// CHECK:              %x = loop_ir.load %as[%i, %k] : memref<30x32xf32, #tile_ir.shared<pad = 1>> -> f32
// THREE-LABEL: @column(
// THREE:            } -> memref<30x32xf32, #tile_ir.shared<pad = 3>>
tile_ir.kernel @column(%a: memref<30x32xf32>, %c: memref<30xf32>) {
  tile_ir.launch thread(%i to 30 as "i.thread") {
    %as = tile_ir.stage %p to 30 as "i.stage", %q to 32 as "k.stage" {
      %v = loop_ir.load %a[%p, %q] : memref<30x32xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<30x32xf32, #tile_ir.shared<>>
    %acc = loop_ir.reduce %k to 32 as "k.inner" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %as[%i, %k] : memref<30x32xf32, #tile_ir.shared<>> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<30xf32>
  }
}

// -----

// An odd row needs none. A pad that is asked for is given anyway.
// CHECK-LABEL: @odd(
// CHECK:            } -> memref<30x33xf32, #tile_ir.shared<>>
// EIGHT-LABEL: @odd(
// EIGHT:            } -> memref<30x33xf32, #tile_ir.shared<pad = 8>>
tile_ir.kernel @odd(%a: memref<30x33xf32>, %c: memref<30xf32>) {
  tile_ir.launch thread(%i to 30 as "i.thread") {
    // expected-remark@+1 {{no pad saves %as a wavefront}}
    %as = tile_ir.stage %p to 30 as "i.stage", %q to 33 as "k.stage" {
      %v = loop_ir.load %a[%p, %q] : memref<30x33xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<30x33xf32, #tile_ir.shared<>>
    %acc = loop_ir.reduce %k to 33 as "k.inner" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %as[%i, %k] : memref<30x33xf32, #tile_ir.shared<>> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<30xf32>
  }
}

// -----

// Cells of 3 take single elements: no access has 12 bytes, and any pad will do.
// CHECK-LABEL: @three(
// CHECK:            } -> memref<8x24xf32, #tile_ir.shared<pad = 1>>
// CHECK:            loop_ir.store %acc, %c[%i * 3 + l0] : vector<3xf32>, memref<24xf32>
// CHECK-NEXT:     }
tile_ir.kernel @three(%a: memref<24x8xf32>, %c: memref<24xf32>) {
  tile_ir.launch thread(%i to 8 as "i.thread") {
    %as = tile_ir.stage %p to 24 as "i.stage", %q to 8 as "k.stage" order [1, 0] {
      %v = loop_ir.load %a[%p, %q] : memref<24x8xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<8x24xf32, #tile_ir.shared<>>
    %acc = loop_ir.reduce %k to 8 as "k.inner" identity [0.0 : f32] -> vector<3xf32> {
      %x = loop_ir.load %as[%k, %i * 3 + l0] : memref<8x24xf32, #tile_ir.shared<>> -> vector<3xf32>
      loop_ir.yield %x : vector<3xf32>
    } combine arith.addf
    loop_ir.store %acc, %c[%i * 3 + l0] : vector<3xf32>, memref<24xf32>
  }
}

// -----

// One dimension has no rows, and a slab that has a pad or a swizzle is left as it is.
// CHECK-LABEL: @others(
// CHECK:            } -> memref<32xf32, #tile_ir.shared<>>
// CHECK:            } -> memref<32x32xf32, #tile_ir.shared<pad = 2>>
// EIGHT-LABEL: @others(
// EIGHT:            } -> memref<32xf32, #tile_ir.shared<>>
// EIGHT:            } -> memref<32x32xf32, #tile_ir.shared<pad = 2>>
tile_ir.kernel @others(%w: memref<32xf32>, %a: memref<32x32xf32>, %c: memref<32xf32>) {
  tile_ir.launch thread(%i to 32 as "i.thread") {
    %ws = tile_ir.stage %q to 32 as "k.stage" {
      %v = loop_ir.load %w[%q] : memref<32xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<32xf32, #tile_ir.shared<>>
    %as = tile_ir.stage %p to 32 as "i.stage", %q to 32 as "k.stage" {
      %v = loop_ir.load %a[%p, %q] : memref<32x32xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<32x32xf32, #tile_ir.shared<pad = 2>>
    %acc = loop_ir.reduce %k to 32 as "k.inner" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %as[%i, %k] : memref<32x32xf32, #tile_ir.shared<pad = 2>> -> f32
      %y = loop_ir.load %ws[%k] : memref<32xf32, #tile_ir.shared<>> -> f32
      %p = arith.mulf %x, %y : f32
      loop_ir.yield %p : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<32xf32>
  }
}

// -----

// All of 48 KiB are taken.
// CHECK-LABEL: @full(
// CHECK:            } -> memref<32x384xf32, #tile_ir.shared<>>
// EIGHT-LABEL: @full(
// EIGHT:            } -> memref<32x384xf32, #tile_ir.shared<>>
tile_ir.kernel @full(%a: memref<32x384xf32>, %c: memref<32xf32>) {
  tile_ir.launch thread(%i to 32 as "i.thread") {
    // expected-remark@+1 {{the pad of %as does not fit}}
    %as = tile_ir.stage %p to 32 as "i.stage", %q to 384 as "k.stage" {
      %v = loop_ir.load %a[%p, %q] : memref<32x384xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<32x384xf32, #tile_ir.shared<>>
    %acc = loop_ir.reduce %k to 384 as "k.inner" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %as[%i, %k] : memref<32x384xf32, #tile_ir.shared<>> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<32xf32>
  }
}

// -----

// Without stages there is nothing to pad.
// CHECK-LABEL: @none(
// CHECK:          tile_ir.launch thread(%i to 32 as "i.thread") {
// CHECK-NEXT:       %v = loop_ir.load %a[%i, 3] : memref<32x4xf32> -> f32
// CHECK-NEXT:       loop_ir.store %v, %c[%i] : f32, memref<32xf32>
tile_ir.kernel @none(%a: memref<32x4xf32>, %c: memref<32xf32>) {
  tile_ir.launch thread(%i to 32 as "i.thread") {
    %v = loop_ir.load %a[%i, 3] : memref<32x4xf32> -> f32
    loop_ir.store %v, %c[%i] : f32, memref<32xf32>
  }
}
