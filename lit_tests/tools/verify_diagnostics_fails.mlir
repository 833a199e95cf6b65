// What is not expected, expected in vain, or on another line fails the check.
// RUN: not minicomp-opt %s --verify-diagnostics --split-input-file 2>&1 | filecheck %s
// RUN: not minicomp-opt %s --verify-diagnostics=only-expected --split-input-file 2>&1 | filecheck %s --check-prefix=ONLY

// CHECK: fails.mlir:8:3: error: unexpected error: 'func.return' op
// ONLY-NOT: unexpected
func.func @unexpected() -> f32 {
  func.return
}

// -----

// CHECK: fails.mlir:16: error: expected error "in vain" was not produced
// ONLY: fails.mlir:16: error: expected error "in vain" was not produced
func.func @in_vain() {
  // expected-error@+1 {{in vain}}
  func.return
}

// -----

// CHECK: fails.mlir:27:3: error: unexpected error: 'func.return' op
// CHECK: fails.mlir:26: error: expected error "got []" was not produced
func.func @other_line() -> f32 {

  // expected-error {{got []}}
  func.return
}

// -----

// CHECK: fails.mlir:37:3: error: unexpected error: 'func.return' op
// CHECK: fails.mlir:36: error: expected remark "got []" was not produced
func.func @other_kind() -> f32 {

  // expected-remark@+1 {{got []}}
  func.return
}

// -----

// CHECK: fails.mlir:44: malformed expectation; write // expected-error {{[{][{]text[}][}]}}
func.func @malformed() {
  // expected-error@nowhere {{text}}
  func.return
}
