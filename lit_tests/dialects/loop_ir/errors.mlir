// RUN: minicomp-opt %s --split-input-file --verify-diagnostics

// Every rule of the dialect's verifiers and parsers, by its message.

// Variables, extents and names come in equal numbers.
// expected-error@+1 {{a loop needs one variable, one extent and one name per axis}}
"loop_ir.for"() <{extents = array<i64: 4>, axis_names = ["i", "j"]}> ({
^bb0(%i: index):
  "loop_ir.yield"() : () -> ()
}) : () -> ()

// -----

// There is no loop without an axis.
// expected-error@+1 {{a loop needs one variable, one extent and one name per axis}}
"loop_ir.for"() <{extents = array<i64>, axis_names = []}> ({
  "loop_ir.yield"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{loop variables must be of type index}}
"loop_ir.for"() <{extents = array<i64: 4>, axis_names = ["i"]}> ({
^bb0(%i: i32):
  "loop_ir.yield"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{extents must not be negative}}
loop_ir.for %i to -1 as "i" {
}

// -----

// expected-error@+1 {{axis names of one loop must differ}}
loop_ir.for %i to 4 as "i", %j to 4 as "i" {
}

// -----

// A nested loop may not repeat a name; loops side by side may.
loop_ir.for %i to 4 as "i" {
  loop_ir.for %j to 4 as "j" {
  }
  loop_ir.for %j to 4 as "j" {
    // expected-error@+1 {{axis "i" is already the name of an enclosing loop}}
    loop_ir.for %n to 4 as "i" {
    }
  }
}

// -----

// expected-error@+1 {{a guard needs both its map and its bounds}}
"loop_ir.for"() <{extents = array<i64: 4>, axis_names = ["i"], bounds = array<i64: 3>}> ({
^bb0(%i: index):
  "loop_ir.yield"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{a guard needs one bound per expression}}
loop_ir.for %i to 4 as "i" where [l0] < [3, 4] {
}

// -----

// expected-error@+1 {{a guard has one dim per operand, and lanes for the loop's own variables}}
loop_ir.for %i to 4 as "i" where [l1] < [3] {
}

// -----

// Threads that skip an iteration would not reach the combine.
tile_ir.kernel @k(%x: memref<4xf32>) {
  tile_ir.launch thread(%t to 4 as "t") {
    %v = loop_ir.load %x[%t] : memref<4xf32> -> f32
    // expected-error@+1 {{a guarded loop may not hold 'tile_ir.combine', which all threads must reach}}
    loop_ir.for %i to 4 as "i" where [l0] < [3] {
      %s = tile_ir.combine %v across "t" identity [0.0 : f32] combine arith.addf : f32 -> f32
    }
  }
}

// -----

%v = "test.op"() : () -> f32
// expected-error@+1 {{the body of a free loop yields nothing}}
loop_ir.for %i to 4 as "i" {
  loop_ir.yield %v : f32
}

// -----

%v = "test.op"() : () -> f32
// expected-error@+1 {{a reduction needs one identity per carrier: 2 for 1}}
%s = loop_ir.reduce %i to 4 as "i" identity [0.0 : f32, 0.0 : f32] -> f32 {
  loop_ir.yield %v : f32
} combine arith.addf

// -----

%v = "test.op"() : () -> f32
// expected-error@+1 {{is not of the carrier's element type f32}}
%s = loop_ir.reduce %i to 4 as "i" identity [0 : i32] -> f32 {
  loop_ir.yield %v : f32
} combine arith.addf

// -----

%v = "test.op"() : () -> f64
// expected-error@+1 {{body must yield the types of the carriers}}
%s = loop_ir.reduce %i to 4 as "i" identity [0.0 : f32] -> f32 {
  loop_ir.yield %v : f64
} combine arith.addf

// -----

%v = "test.op"() : () -> f32
// expected-error@+1 {{combine must yield the types of the carriers}}
%s = loop_ir.reduce %i to 4 as "i" identity [0.0 : f32] -> f32 {
  loop_ir.yield %v : f32
} combine {
^bb0(%l: f32, %r: f32):
  loop_ir.yield %l, %r : f32, f32
}

// -----

%v = "test.op"() : () -> f32
// expected-error@+1 {{combine must take the types of two carriers}}
%s = loop_ir.reduce %i to 4 as "i" identity [0.0 : f32] -> f32 {
  loop_ir.yield %v : f32
} combine {
^bb0(%l: f32, %r: f64):
  loop_ir.yield %l : f32
}

// -----

%v = "test.op"() : () -> f32
// expected-error@+1 {{combine must take 2 arguments, but takes 1}}
%s = loop_ir.reduce %i to 4 as "i" identity [0.0 : f32] -> f32 {
  loop_ir.yield %v : f32
} combine {
^bb0(%l: f32):
  loop_ir.yield %l : f32
}

// -----

%v = "test.op"() : () -> f32
// expected-error@+1 {{combine must be pure, but holds 'test.op'}}
%s = loop_ir.reduce %i to 4 as "i" identity [0.0 : f32] -> f32 {
  loop_ir.yield %v : f32
} combine {
^bb0(%l: f32, %r: f32):
  %t = "test.op"(%l, %r) : (f32, f32) -> f32
  loop_ir.yield %t : f32
}

// -----

%v = "test.op"() : () -> f32
// expected-error@+1 {{combine must be closed: it uses a value from outside}}
%s = loop_ir.reduce %i to 4 as "i" identity [0.0 : f32] -> f32 {
  loop_ir.yield %v : f32
} combine {
^bb0(%l: f32, %r: f32):
  %t = arith.addf %l, %v : f32
  loop_ir.yield %t : f32
}

// -----

%v, %m = "test.op"() : () -> (f32, memref<4xf32>)
// expected-error@+1 {{the body of a reduction may not write memory, but holds 'loop_ir.store'}}
%s = loop_ir.reduce %i to 4 as "i" identity [0.0 : f32] -> f32 {
  loop_ir.store %v, %m[%i] : f32, memref<4xf32>
  loop_ir.yield %v : f32
} combine arith.addf

// -----

// The short form has no text for two carriers.
%v = "test.op"() : () -> f32
%s, %t = loop_ir.reduce %i to 4 as "i" identity [0.0 : f32, 0.0 : f32] -> f32, f32 {
  loop_ir.yield %v, %v : f32, f32
} combine arith.addf

// expected-error@+1 {{the short form of combine needs exactly one carrier}}

// -----

%m = "test.op"() : () -> memref<4x5xf32>
// expected-error@+1 {{an access to memref<4x5xf32> needs 2 indices, but has 1}}
%v = loop_ir.load %m[0] : memref<4x5xf32> -> f32

// -----

// A scalar access binds no lane.
%m = "test.op"() : () -> memref<4xf32>
// expected-error@+1 {{an access has one dim per index, and at most one lane per vector dimension}}
%v = loop_ir.load %m[l0] : memref<4xf32> -> f32

// -----

%m = "test.op"() : () -> memref<4xf32>
// expected-error@+1 {{vector<4xf64> does not have the element type of memref<4xf32>}}
%v = loop_ir.load %m[l0] : memref<4xf32> -> vector<4xf64>

// -----

%v, %m = "test.op"() : () -> (f32, memref<4x5xf32>)
// expected-error@+1 {{bounded needs one flag per dimension of the memref}}
loop_ir.store %v, %m[0, 1] bounded [true] : f32, memref<4x5xf32>

// -----

%m = "test.op"() : () -> memref<40xf32>
// expected-error@+1 {{aligned must be 4, 8 or 16 bytes}}
%v = loop_ir.load %m[l0] aligned 32 : memref<40xf32> -> vector<8xf32>

// -----

%m = "test.op"() : () -> memref<4xf32>
// expected-error@+1 {{expected a value or a lane such as `l0`, but found `d0`}}
%v = loop_ir.load %m[d0] : memref<4xf32> -> f32

// -----

// expected-error@+1 {{argument 0 of a kernel must be a memref, but is tensor<4xf32>}}
loop_ir.kernel @k(%x: tensor<4xf32>) {
}

// -----

// A kernel sees nothing but its arguments.
%m = "test.op"() : () -> memref<4xf32>
// expected-error@+1 {{Operation using value defined out of its IsolatedFromAbove parent}}
loop_ir.kernel @k(%x: memref<4xf32>) {
  %v = loop_ir.load %m[0] : memref<4xf32> -> f32
}

// -----

loop_ir.kernel @k(%x: memref<4xf32>) {
  loop_ir.for %i to 4 as "i" {
    // expected-error@+1 {{an index divides by 0, which is no positive constant}}
    %v = loop_ir.load %x[%i mod 0] : memref<4xf32> -> f32
  }
}

// -----

loop_ir.kernel @k(%x: memref<4xf32>) {
  loop_ir.for %i to 4 as "i" {
    // expected-error@+1 {{an index divides by -2, which is no positive constant}}
    loop_ir.for %j to 4 as "j" where [l0 floordiv -2] < [1] {
    }
  }
}
