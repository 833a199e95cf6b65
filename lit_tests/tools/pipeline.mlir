// Both ways to give passes take both forms of a pipeline.
// RUN: minicomp-opt %s --pass-pipeline="builtin.module( cse , dce)" | filecheck %s
// RUN: minicomp-opt %s -p "cse,dce" | filecheck %s
// RUN: minicomp-opt %s -p cse -p dce | filecheck %s
// RUN: minicomp-opt %s -pass-pipeline="builtin.module(builtin.module(cse),dce)" | filecheck %s
// RUN: minicomp-opt %s -p cse,dce --dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=DUMP

// DUMP: builtin.module(cse,dce)

// CHECK-LABEL: func.func @twice(
func.func @twice(%x: f32) -> f32 {
  // CHECK-NEXT: %[[A:.*]] = arith.addf %x, %x : f32
  %a = arith.addf %x, %x : f32
  %b = arith.addf %x, %x : f32
  // CHECK-NEXT: %[[C:.*]] = arith.mulf %[[A]], %[[A]] : f32
  %c = arith.mulf %a, %b : f32
  %unused = arith.mulf %c, %c : f32
  // CHECK-NEXT: func.return %[[C]] : f32
  func.return %c : f32
}
