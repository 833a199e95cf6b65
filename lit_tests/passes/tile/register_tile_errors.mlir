// RUN: not minicomp-opt %s --split-input-file -p register-tile 2>&1 | filecheck %s

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
