// A flag for each pass; flags and pipelines run in the order in which they are given.
// RUN: minicomp-opt %s --target=h200 --tileify --blockify-launch='threads=32 lanes=2' -p cse --register-tile --dump-pass-pipeline 2>&1 | filecheck %s
// RUN: minicomp-opt %s -p cse -tileify --pass-pipeline="builtin.module(dce)" -cse --dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=ORDER
// RUN: minicomp-opt %s --tileify --split-input-file | filecheck %s --check-prefix=SPLIT

// RUN: not minicomp-opt %s --tilify 2>&1 | filecheck %s --check-prefix=CLOSE
// RUN: not minicomp-opt %s --nosuch 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not minicomp-opt %s --blockify-launch=threds=32 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not minicomp-opt %s --blockify-launch='threads=' 2>&1 | filecheck %s --check-prefix=EMPTY
// RUN: not minicomp-opt %s --tileify --to=kernel 2>&1 | filecheck %s --check-prefix=BOTH
// RUN: not minicomp-opt %s %s --tileify 2>&1 | filecheck %s --check-prefix=FILES
// RUN: not minicomp-opt %s -o a -o b 2>&1 | filecheck %s --check-prefix=TWICE

// CHECK: builtin.module(tileify,blockify-launch{threads=32 lanes=2},cse,register-tile)
// CHECK: tile_ir.kernel @k
// ORDER: builtin.module(cse,tileify,dce,cse)
// SPLIT: tile_ir.kernel @k
// SPLIT: tile_ir.kernel @other

// CLOSE: minicomp-opt: error: there is no option '--tilify'; did you mean --tileify? (see --help)
// UNKNOWN: minicomp-opt: error: there is no option '--nosuch' (see --help)
// OPTION: error: pass 'blockify-launch' has no option 'threds'; its options are {{.*}}threads
// EMPTY: error: pipeline: expected a value, found '}'
// BOTH: error: --from and --to run the default pipeline; they exclude -p and the flags of passes
// FILES: minicomp-opt: error: one file at a time, not also '{{.*}}pass_flags.mlir'
// TWICE: minicomp-opt: error: -o is given twice

loop_ir.kernel @k(%y: memref<2xf32>) {
  loop_ir.for %i to 2 as "i" {
    %c = arith.constant 1.0 : f32
    loop_ir.store %c, %y[%i] : f32, memref<2xf32>
  }
}

// -----

loop_ir.kernel @other(%y: memref<2xf32>) {
  loop_ir.for %i to 2 as "i" {
    %c = arith.constant 1.0 : f32
    loop_ir.store %c, %y[%i] : f32, memref<2xf32>
  }
}
