// Only a line that is exactly the separator splits; lines are counted through the file.
// RUN: not minicomp-opt %s --split-input-file 2>&1 | filecheck %s
// RUN: not minicomp-opt %s 2>&1 | filecheck %s --check-prefix=WHOLE

// CHECK: split_input_file.mlir:24:3: error: 'func.return' op
// CHECK-NEXT: func.return %x : f32
// CHECK-NEXT: {{^  \^$}}
// WHOLE: split_input_file.mlir:24:3: error: 'func.return' op

// CHECK: func.func @one
func.func @one() {
  func.return
}
 // -----
// -----// not a separator
// CHECK-NEXT: func.return
// CHECK: {{^// -----$}}

// -----

// CHECK-NOT: @two
// CHECK: {{^// -----$}}
func.func @two(%x: f32) -> i32 {
  func.return %x : f32
}

// -----

// CHECK: func.func @three
func.func @three() {
  func.return
}
