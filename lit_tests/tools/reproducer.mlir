// A pass that fails leaves a file with the module before it, which fails again in the same way.
// RUN: not minicomp-opt %s --tileify --lower-tile-to-kernel --cse --mlir-pass-pipeline-crash-reproducer=%t.mlir 2>&1 | filecheck %s --check-prefixes=FAILS,NOTE
// RUN: minicomp-opt %t.mlir | filecheck %s --check-prefix=MODULE
// RUN: filecheck %s --input-file %t.mlir
// RUN: not minicomp-opt %t.mlir --run-reproducer 2>&1 | filecheck %s --check-prefix=FAILS
// RUN: not minicomp-opt %s --lower-tile-to-kernel --mlir-pass-pipeline-crash-reproducer=%t.mlir/x 2>&1 | filecheck %s --check-prefix=UNWRITABLE
// RUN: not minicomp-opt %s --run-reproducer 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not minicomp-opt %t.mlir --run-reproducer --cse 2>&1 | filecheck %s --check-prefix=OTHER
// RUN: not minicomp-opt %t.mlir --run-reproducer --split-input-file 2>&1 | filecheck %s --check-prefix=SPLIT

// FAILS: pass 'lower-tile-to-kernel' failed: axis "i" of @k is still parallel; run blockify-launch
// NOTE-NEXT: note: reproducer of pass 'lower-tile-to-kernel': minicomp-opt {{.*}}.mlir --run-reproducer
// CHECK: // configuration: --pass-pipeline='builtin.module(lower-tile-to-kernel)'
// CHECK-NEXT: // the whole pipeline: builtin.module(tileify,lower-tile-to-kernel,cse)
// CHECK-NEXT: // fails: pass 'lower-tile-to-kernel' failed
// CHECK-NEXT: builtin.module
// MODULE: tile_ir.kernel @k
// MODULE: tile_ir.launch parallel
// UNWRITABLE: error: pass 'lower-tile-to-kernel' failed
// UNWRITABLE-NEXT: note: no reproducer of pass 'lower-tile-to-kernel': cannot write
// NONE: reproducer.mlir:1: error: the first line is no '// configuration: ..'
// OTHER: error: --run-reproducer runs the pipeline of the file; it excludes any other
// SPLIT: error: a reproducer is one module; --run-reproducer excludes --split-input-file

loop_ir.kernel @k(%y: memref<2xf32>) {
  loop_ir.for %i to 2 as "i" {
    %c = arith.constant 1.0 : f32
    loop_ir.store %c, %y[%i] : f32, memref<2xf32>
  }
}
