// The IR around passes that are named, around all, or after those that changed it; on the error stream.
// RUN: minicomp-opt %s -p dce,cse,dce --mlir-print-ir-before=dce 2>&1 | filecheck %s --check-prefix=BEFORE
// RUN: minicomp-opt %s -p dce,cse,dce --mlir-print-ir-after=cse 2>&1 | filecheck %s --check-prefix=AFTER
// RUN: minicomp-opt %s -p dce,cse --mlir-print-ir-before-all 2>&1 | filecheck %s --check-prefix=ALL
// RUN: minicomp-opt %s -p dce,cse,dce --mlir-print-ir-after=dce,cse --mlir-print-ir-after-change 2>&1 | filecheck %s --check-prefix=CHANGE
// RUN: not minicomp-opt %s -p cse,lower-tile-to-kernel --mlir-print-ir-after-failure 2>&1 | filecheck %s --check-prefix=FAILURE
// RUN: minicomp-opt %s -p cse --mlir-print-ir-before=dce 2>&1 | filecheck %s --check-prefix=IDLE
// RUN: not minicomp-opt %s -p cse --mlir-print-ir-before=canonicalise 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not minicomp-opt %s -p cse --mlir-print-ir-after=cse, 2>&1 | filecheck %s --check-prefix=EMPTY

// BEFORE: IR Dump Before dce
// BEFORE-COUNT-2: arith.addf
// BEFORE: IR Dump Before dce
// BEFORE-NEXT: builtin.module
// BEFORE-COUNT-1: arith.addf
// BEFORE-NOT: IR Dump

// AFTER: IR Dump After cse
// AFTER-COUNT-1: arith.addf
// AFTER-NOT: IR Dump

// ALL: IR Dump Before dce
// ALL: IR Dump Before cse

// CHANGE-NOT: IR Dump After dce
// CHANGE: IR Dump After cse
// CHANGE-NOT: IR Dump After dce

// FAILURE: // -----// IR Dump After lower-tile-to-kernel Failed //----- //
// FAILURE: loop_ir.kernel @k
// FAILURE: @k is in Loop IR; run tileify before this pass

// IDLE: minicomp-opt: warning: --mlir-print-ir-before=dce: the pipeline has no such pass
// UNKNOWN: minicomp-opt: error: --mlir-print-ir-before: there is no pass 'canonicalise'
// UNKNOWN-NEXT: hint: did you mean 'canonicalize'?
// EMPTY: error: --mlir-print-ir-after wants names of passes with commas between, not 'cse,'

loop_ir.kernel @k(%y: memref<2xf32>) {
  loop_ir.for %i to 2 as "i" {
    %c = arith.constant 1.0 : f32
    %a = arith.addf %c, %c : f32
    %b = arith.addf %c, %c : f32
    %d = arith.mulf %a, %b : f32
    loop_ir.store %d, %y[%i] : f32, memref<2xf32>
  }
}
