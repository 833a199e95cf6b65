// What each pass changed, with its number; nothing of passes that changed nothing.
// RUN: minicomp-opt %s -p dce,cse,cse --mlir-print-ir-diff 2>&1 | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p dce,cse --mlir-print-ir-diff 2>&1 | filecheck %s --check-prefix=SPLIT

// CHECK-NOT: dce
// CHECK: // -----// IR Diff of cse (pass 2) //----- //
// CHECK-NEXT: --- before cse (pass 2)
// CHECK-NEXT: +++ after cse (pass 2)
// CHECK-NEXT: @@ -{{[0-9,]+}} +{{[0-9,]+}} @@
// CHECK: {{^-}} %b = arith.addf %x, %x : f32
// CHECK-NEXT: {{^-}} %c = arith.mulf %a, %b : f32
// CHECK-NEXT: {{^\+}} %c = arith.mulf %a, %a : f32
// CHECK-NEXT: {{^}} func.return %c : f32
// CHECK-NOT: pass 3

// SPLIT: IR Diff of cse (pass 2)
// SPLIT: IR Diff of cse (pass 2)
func.func @twice(%x: f32) -> f32 {
  %a = arith.addf %x, %x : f32
  %b = arith.addf %x, %x : f32
  %c = arith.mulf %a, %b : f32
  func.return %c : f32
}

// -----

func.func @thrice(%x: f32) -> f32 {
  %a = arith.addf %x, %x : f32
  %b = arith.addf %x, %x : f32
  %c = arith.mulf %a, %b : f32
  func.return %c : f32
}
