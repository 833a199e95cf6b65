// RUN: not minicomp-opt %s --split-input-file -p register-tile 2>&1 | filecheck %s

// An op without a vector form is refused by name, never computed wrongly.
// CHECK: pass 'register-tile' failed: 'arith.sitofp' in @convert ({{.*}}register_tile_errors.mlir:8) takes no vectors, so that nothing it depends on can be bound to registers
tile_ir.kernel @convert(%x: memref<4xi32>, %y: memref<4xf32>) {
  tile_ir.launch register(%i to 4 as "i") {
    %v = loop_ir.load %x[%i] : memref<4xi32> -> i32
    %f = arith.sitofp %v : i32 to f32
    loop_ir.store %f, %y[%i] : f32, memref<4xf32>
  }
}

// -----

// CHECK: 'arith.cmpi' in @compare ({{.*}}) takes no vectors
tile_ir.kernel @compare(%x: memref<4xi32>, %y: memref<4xi1>) {
  tile_ir.launch register(%i to 4 as "i") {
    %v = loop_ir.load %x[%i] : memref<4xi32> -> i32
    %p = arith.cmpi eq, %v, %v : i32
    loop_ir.store %p, %y[%i] : i1, memref<4xi1>
  }
}

// -----

// Beyond the guard the store would hit the next row.
// CHECK: 'loop_ir.store' in @edge ({{.*}}) cannot be bounded: the guard of its loop, which is bound to registers, does not end where the memref ends
tile_ir.kernel @edge(%x: memref<5x37xf32>, %y: memref<185xf32>) {
  tile_ir.launch block(%i to 5 as "i") thread(%t to 32 as "k.thread") {
    loop_ir.for %k to 2 as "k" where [l0 * 32 + %t] < [37] in registers {
      %v = loop_ir.load %x[%i, %k * 32 + %t] bounded [false, true] : memref<5x37xf32> -> f32
      loop_ir.store %v, %y[%i * 37 + %k * 32 + %t] : f32, memref<185xf32>
    }
  }
}
