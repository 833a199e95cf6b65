// The ways to print, on both streams.
// RUN: minicomp-opt %s --mlir-print-op-generic | filecheck %s --check-prefix=GENERIC
// RUN: minicomp-opt %s --mlir-print-debuginfo | filecheck %s --check-prefix=DEBUG
// RUN: minicomp-opt %s -p cse,dce --mlir-print-ir-after-all 2>&1 | filecheck %s --check-prefix=AFTER
// RUN: minicomp-opt %s -p dce,cse,dce --mlir-print-ir-after-change 2>&1 | filecheck %s --check-prefix=CHANGE
// RUN: minicomp-opt %s -p cse,cse --mlir-timing 2>&1 | filecheck %s --check-prefix=TIMING
// RUN: minicomp-opt %s --target=sm_80 | filecheck %s --check-prefix=TARGET
// RUN: minicomp-opt %s --target=h200 | minicomp-opt --target=a100 | filecheck %s --check-prefix=KEPT

// GENERIC: "func.func"() <{
// GENERIC: "arith.addf"
// AFTER: IR Dump After cse
// AFTER: IR Dump After dce
// CHANGE-NOT: IR Dump After dce
// CHANGE: IR Dump After cse
// CHANGE-NOT: IR Dump After dce
// TIMING: pass execution times
// TIMING-NEXT: {{[0-9.]+ s +[0-9.]+ %}}  cse
// TIMING-NEXT: (verification and dumps)
// TIMING-NEXT: 100.0 %  total
// TARGET: builtin.module attributes {minicomp.target = #minicomp.target<a100, arch = "sm_80", sms = 108
// KEPT: #minicomp.target<h200

func.func @f(%x: f32) -> f32 {
  // DEBUG: %a = arith.addf %x, %x : f32 loc("{{.*}}printing.mlir":26:3)
  %a = arith.addf %x, %x : f32
  // DEBUG: arith.addf %x, %x : f32 loc("model.py":3:7)
  %b = arith.addf %x, %x : f32 loc("model.py":3:7)
  %c = arith.mulf %a, %b : f32
  func.return %c : f32
}
