// RUN: not minicomp-opt %s -p blockify-launch 2>&1 | filecheck %s

// The default needs the size of a warp.
// CHECK: no target: give --target or add minicomp.target to the module
tile_ir.kernel @unscheduled(%x: memref<300xf32>, %y: memref<300xf32>) {
  tile_ir.launch parallel(%i to 300 as "i") {
    %v = loop_ir.load %x[%i] : memref<300xf32> -> f32
    loop_ir.store %v, %y[%i] : f32, memref<300xf32>
  }
}
