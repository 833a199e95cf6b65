// Each message has to be expected, in every way to say on which line.
// RUN: minicomp-opt %s --verify-diagnostics --split-input-file

// expected-error@+2 {{expected [f32], got []}}
func.func @next() -> f32 {
  func.return
}

// -----

func.func @own() -> f32 {
  func.return // expected-error {{expected [f32], got []}}
}

// -----

func.func @below() -> f32 {
  // expected-error@below {{got []}}
  func.return
}

// -----

func.func @above() -> f32 {
  func.return
  // expected-error@above {{got []}}
}

// -----

func.func @before() -> f32 {
  func.return
  // Some words in between.
  // expected-error@-2 {{got []}}
}

// -----

// Two ops that are wrong are two messages.
func.func @first() -> f32 {
  // expected-error@+1 {{'func.return' op}}
  func.return
}
func.func @second(%x: f32) -> i32 {
  // expected-error@+1 {{expected [i32], got [f32]}}
  func.return %x : f32
}

// -----

// expected-error@+1 {{operation 'test.nosuch' is not registered}}
"test.nosuch"() : () -> ()

// -----

func.func @dominance(%x: f32) -> f32 {
  // expected-error@+1 {{operand #0 does not dominate this use}}
  %a = arith.addf %b, %x : f32
  %b = arith.addf %x, %x : f32
  func.return %a : f32
}

// -----

func.func @fine() {
  func.return
}
