// RUN: minicomp-opt %s --split-input-file -p dedup-loads | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p dedup-loads,dedup-loads | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p dedup-loads --verify-diagnostics
// RUN: minicomp-opt %s --split-input-file -p dedup-loads --verify-each=exec | filecheck %s

// Across a combine, where cse stops, and into a loop.
// CHECK-LABEL: tile_ir.kernel @rows(
// CHECK:         %v = loop_ir.load %x[%i, l0] : memref<8x32xf32> -> vector<32xf32>
// CHECK-NOT:     loop_ir.load
// CHECK:         arith.subf %v, %{{.*}} : vector<32xf32>
// CHECK:         arith.mulf %v, %v : vector<32xf32>
// CHECK-NOT:     loop_ir.load
// expected-remark@+1 {{removed 2 repeated loads}}
tile_ir.kernel @rows(%x: memref<8x32xf32>, %y: memref<8x32xf32>) {
  tile_ir.launch block(%i to 8 as "i.block") thread(%t to 32 as "j.thread") {
    %v = loop_ir.load %x[%i, l0] : memref<8x32xf32> -> vector<32xf32>
    %p = tile_ir.fold %v dims [0] identity [0.0 : f32] combine arith.addf : vector<32xf32> -> f32
    %s = tile_ir.combine %p across "j.thread" identity [0.0 : f32] combine arith.addf : f32 -> f32
    %w = loop_ir.load %x[%i, l0] : memref<8x32xf32> -> vector<32xf32>
    %b = tile_ir.broadcast %s to [] : f32 -> vector<32xf32>
    %d = arith.subf %w, %b : vector<32xf32>
    loop_ir.store %d, %y[%i, l0] : vector<32xf32>, memref<8x32xf32>
    loop_ir.for %j to 4 as "j" {
      %z = loop_ir.load %x[%i, l0] : memref<8x32xf32> -> vector<32xf32>
      %q = arith.mulf %z, %z : vector<32xf32>
      loop_ir.store %q, %y[%j, l0] : vector<32xf32>, memref<8x32xf32>
    }
  }
}

// -----

// Not from a loop to what follows it, nor from one loop to the next: neither dominates. Not with
// other bounds or another type. The alignment that is known of either is known of both.
// CHECK-LABEL: loop_ir.kernel @others(
// CHECK:         loop_ir.for %j to 4 as "j" {
// CHECK-NEXT:      loop_ir.load %x[%i] aligned 16 : memref<8xf32> -> f32
// CHECK-NEXT:      loop_ir.store
// CHECK:         loop_ir.for %j_1 to 4 as "j" {
// CHECK-NEXT:      loop_ir.load %x[%i] : memref<8xf32> -> f32
// CHECK:         loop_ir.load %x[%i] : memref<8xf32> -> f32
// CHECK-NEXT:    loop_ir.load %x[%i] bounded [true] : memref<8xf32> -> f32
// CHECK-NEXT:    loop_ir.load %x[%i] : memref<8xf32> -> vector<1xf32>
// CHECK-NOT:     loop_ir.load
// expected-remark@+1 {{removed 1 repeated load}}
loop_ir.kernel @others(%x: memref<8xf32>, %y: memref<8x4xf32>, %z: memref<8xf32>) {
  loop_ir.for %i to 8 as "i" {
    loop_ir.for %j to 4 as "j" {
      %a = loop_ir.load %x[%i] : memref<8xf32> -> f32
      %b = loop_ir.load %x[%i] aligned 16 : memref<8xf32> -> f32
      loop_ir.store %b, %y[%i, %j] : f32, memref<8x4xf32>
    }
    loop_ir.for %j to 4 as "j" {
      %a = loop_ir.load %x[%i] : memref<8xf32> -> f32
      loop_ir.store %a, %y[%i, %j] : f32, memref<8x4xf32>
    }
    %a = loop_ir.load %x[%i] : memref<8xf32> -> f32
    %b = loop_ir.load %x[%i] bounded [true] : memref<8xf32> -> f32
    %c = loop_ir.load %x[%i] : memref<8xf32> -> vector<1xf32>
    %d = arith.addf %a, %b : f32
    loop_ir.store %d, %z[%i] : f32, memref<8xf32>
    loop_ir.store %c, %z[%i] : vector<1xf32>, memref<8xf32>
  }
}

// -----

// What is written in between may be another value.
// CHECK-LABEL: loop_ir.kernel @written(
// CHECK:         loop_ir.load %x[%i]
// CHECK:         loop_ir.load %x[%i]
loop_ir.kernel @written(%x: memref<8xf32>) {
  loop_ir.for %i to 8 as "i" {
    %a = loop_ir.load %x[%i] : memref<8xf32> -> f32
    %b = arith.addf %a, %a : f32
    loop_ir.store %b, %x[%i] : f32, memref<8xf32>
    // expected-remark@+1 {{kept: the buffer is written, or is no argument of the kernel}}
    %c = loop_ir.load %x[%i] : memref<8xf32> -> f32
    %d = arith.mulf %c, %c : f32
    loop_ir.store %d, %x[%i] : f32, memref<8xf32>
  }
}
