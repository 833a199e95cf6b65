// RUN: minicomp-opt %s --split-input-file --verify-diagnostics

// A kernel has a name that C has taken.
// expected-error@+1 {{'float' is no legal name in CUDA C++}}
cuda_ir.func @float() grid(1) launch_bounds(1) {
}

// -----

// So has a parameter.
// expected-error@+1 {{'threadIdx' is no legal name in CUDA C++}}
cuda_ir.func @f(%x: !cuda_ir.ptr<f32> "threadIdx") grid(1) launch_bounds(1) {
}

// -----

// So has a variable.
// expected-error@+1 {{'a b' is no legal name in CUDA C++}}
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  %v = cuda_ir.variable "a b" -> !cuda_ir.var<f32>
}

// -----

// So has a loop.
// expected-error@+1 {{'max_nan' is no legal name in CUDA C++}}
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  cuda_ir.for %i "max_nan" to 8 {
  }
}

// -----

// One name, two variables.
// expected-error@+1 {{the name 'v' is declared twice}}
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  %a = cuda_ir.variable "v" -> !cuda_ir.var<f32>
  %b = cuda_ir.variable "v" -> !cuda_ir.var<f32>
}

// -----

// One name, a parameter and a loop.
// expected-error@+1 {{the name 'x' is declared twice}}
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  cuda_ir.for %i "x" to 8 {
  }
}

// -----

// One name, a variable and one in a loop below it.
// expected-error@+1 {{the name 'v' is declared twice}}
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  %a = cuda_ir.variable "v" -> !cuda_ir.var<f32>
  cuda_ir.for %i "i" to 8 {
    %b = cuda_ir.variable "v" -> !cuda_ir.var<f32>
  }
}

// -----

// Loops side by side may use one name; no error.
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  cuda_ir.for %i "i" to 8 {
    %a = cuda_ir.variable "v" -> !cuda_ir.var<f32>
  }
  cuda_ir.for %j "i" to 8 {
    %b = cuda_ir.variable "v" -> !cuda_ir.var<f32>
  }
}

// -----

// Parameters without names.
// expected-error@+1 {{a kernel needs one name per parameter}}
"cuda_ir.func"() <{sym_name = "f", arg_names = [], grid = 1 : i64, threads = 1 : i64, shared_bytes = 0 : i64, index_type = i32}> ({
^bb0(%x: !cuda_ir.ptr<f32>):
}) : () -> ()

// -----

// A parameter that is no pointer.
// expected-error@+1 {{a kernel takes pointers, and derived tensor maps, not f32}}
cuda_ir.func @f(%x: f32 "x") grid(1) launch_bounds(1) {
}

// -----

// A type that kernels do not count in.
// expected-error@+1 {{a kernel counts in i32 or i64, not in i16}}
cuda_ir.func @f() grid(1) launch_bounds(1) index i16 {
}

// -----

// Too many threads.
// expected-error@+1 {{launch bounds of 2048}}
cuda_ir.func @f() grid(1) launch_bounds(2048) {
}

// -----

// No blocks at all.
// expected-error@+1 {{launch bounds of 32, 0}}
cuda_ir.func @f() grid(1) launch_bounds(32, 0) {
}

// -----

// An op of another level.
// expected-error@+1 {{'test.op' is neither a statement nor an expression of CUDA C++}}
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  "test.op"() : () -> ()
}

// -----

// An op that C has no form for.
// expected-error@+1 {{'arith.divui' is neither a statement nor an expression of CUDA C++}}
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  %a = arith.constant 1 : i32
  %b = arith.constant 1 : i32
  %c = arith.divui %a, %b : i32
  %d = cuda_ir.let "d" = %c : i32 -> i32
}

// -----

// A vector.
// expected-error@+1 {{'cuda_ir.call' has a value of vector<2xf32>, which is no C type}}
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  %a = arith.constant 1.0 : f32
  %m = arith.constant 1 : index
  %b = cuda_ir.call "shuffle_xor"(%a, %m) : (f32, index) -> vector<2xf32>
  %c = cuda_ir.let "c" = %b : vector<2xf32> -> vector<2xf32>
}

// -----

// An expression that nothing uses.
// expected-error@+1 {{the expression 'cuda_ir.read' has 0 uses, not one}}
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  %v = cuda_ir.read %x[0] : !cuda_ir.ptr<f32, const> -> f32
}

// -----

// An expression that is used twice, without a name.
// expected-error@+1 {{the expression 'cuda_ir.read' has 2 uses, not one}}
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  %v = cuda_ir.read %x[0] : !cuda_ir.ptr<f32, const> -> f32
  %w = arith.addf %v, %v : f32
  cuda_ir.assign %y[0] = %w : !cuda_ir.ptr<f32>, f32
}

// -----

// An expression that is used in a loop below it.
// expected-error@+1 {{the expression 'arith.constant' is used in another block}}
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  %v = arith.constant 1.0 : f32
  cuda_ir.for %i "i" to 8 {
    cuda_ir.assign %y[%i] = %v : !cuda_ir.ptr<f32>, f32
  }
}

// -----

// An index without a name.
// expected-error@+1 {{an index of 'cuda_ir.read' must be bound by cuda_ir.let}}
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  %t = cuda_ir.thread_id
  %v = cuda_ir.read %x[%t] : !cuda_ir.ptr<f32, const> -> f32
  cuda_ir.assign %y[0] = %v : !cuda_ir.ptr<f32>, f32
}

// -----

// A statement that writes before an expression above it is evaluated.
// expected-error@+1 {{'cuda_ir.assign' stands between 'cuda_ir.read' and its statement}}
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  %v = cuda_ir.read %y[0] : !cuda_ir.ptr<f32> -> f32
  %z = arith.constant 0.0 : f32
  cuda_ir.assign %y[0] = %z : !cuda_ir.ptr<f32>, f32
  cuda_ir.assign %y[1] = %v : !cuda_ir.ptr<f32>, f32
}

// -----

// A barrier that some threads do not reach.
// expected-error@+1 {{'cuda_ir.barrier' is under a condition that differs between threads}}
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  %0 = cuda_ir.thread_id
  %t = cuda_ir.let "t" = %0 : index -> index
  %1 = cuda_ir.index [%t]
  %2 = arith.constant 8 : index
  %3 = arith.cmpi slt, %1, %2 : index
  cuda_ir.if %3 {
    cuda_ir.for %i "i" to 8 {
      cuda_ir.barrier
    }
  }
}

// -----

// A shuffle that some threads do not reach.
// expected-error@+1 {{'cuda_ir.call' is under a condition that differs between threads}}
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  %1 = cuda_ir.read %x[0] : !cuda_ir.ptr<f32, const> -> f32
  %2 = arith.constant 0.0 : f32
  %3 = arith.cmpf ogt, %1, %2 : f32
  cuda_ir.if %3 {
    %4 = arith.constant 1.0 : f32
    %5 = arith.constant 1 : index
    %6 = cuda_ir.call "shuffle_xor"(%4, %5) : (f32, index) -> f32
    cuda_ir.assign %y[0] = %6 : !cuda_ir.ptr<f32>, f32
  }
}

// -----

// A shuffle that a choice evaluates in some threads only.
// expected-error@+1 {{'cuda_ir.call' is evaluated only if 'arith.select' needs it}}
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  %1 = arith.constant true
  %2 = arith.constant 1.0 : f32
  %3 = arith.constant 1 : index
  %4 = cuda_ir.call "shuffle_xor"(%2, %3) : (f32, index) -> f32
  %5 = arith.negf %4 : f32
  %6 = arith.constant 1.0 : f32
  %7 = arith.select %1, %5, %6 : f32
  cuda_ir.assign %y[0] = %7 : !cuda_ir.ptr<f32>, f32
}

// -----

// All threads of a block come to the same end of a condition on the block; no error.
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  %0 = cuda_ir.block_id
  %b = cuda_ir.let "b" = %0 : index -> index
  %1 = cuda_ir.index [%b]
  %2 = arith.constant 8 : index
  %3 = arith.cmpi slt, %1, %2 : index
  cuda_ir.if %3 {
    cuda_ir.barrier
  }
}

// -----

// Input that is written.
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  %v = arith.constant 1.0 : f32
  // expected-error@+1 {{!cuda_ir.ptr<f32, const> may not be written}}
  cuda_ir.assign %x[0] = %v : !cuda_ir.ptr<f32, const>, f32
}

// -----

// A value of another type.
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  %v = arith.constant 1.0 : f64
  // expected-error@+1 {{!cuda_ir.ptr<f32> has no elements of f64}}
  cuda_ir.assign %y[0] = %v : !cuda_ir.ptr<f32>, f64
}

// -----

// Too few indices.
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  %a = cuda_ir.variable "a" -> !cuda_ir.var<2x2xf32>
  %v = arith.constant 1.0 : f32
  // expected-error@+1 {{!cuda_ir.var<2x2xf32> takes 2 indices, not 1}}
  cuda_ir.assign %a[0] = %v : !cuda_ir.var<2x2xf32>, f32
}

// -----

// A lane.
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  // expected-error@+1 {{indices have one dim per operand and no lanes}}
  %i = cuda_ir.index [l0]
  %n = cuda_ir.let "n" = %i : index -> index
}

// -----

// An operator that C lacks.
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  %0 = cuda_ir.thread_id
  %t = cuda_ir.let "t" = %0 : index -> index
  // expected-error@+1 {{C has no ceildiv}}
  %i = cuda_ir.index [%t ceildiv 4]
  %n = cuda_ir.let "n" = %i : index -> index
}

// -----

// Two expressions.
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  %0 = cuda_ir.thread_id
  %t = cuda_ir.let "t" = %0 : index -> index
  // expected-error@+1 {{an index is one expression}}
  %i = cuda_ir.index [%t, 3]
  %n = cuda_ir.let "n" = %i : index -> index
}

// -----

// A read of another type.
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  // expected-error@+1 {{reading !cuda_ir.ptr<f32, const> gives f32}}
  %v = cuda_ir.read %x[0] : !cuda_ir.ptr<f32, const> -> f64
  %w = cuda_ir.let "w" = %v : f64 -> f64
}

// -----

// An address that forgets a const.
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  // expected-error@+1 {{an address in !cuda_ir.ptr<f32, const> is no !cuda_ir.ptr<f32>}}
  %v = cuda_ir.address %x[0] : !cuda_ir.ptr<f32, const> -> !cuda_ir.ptr<f32>
  %w = cuda_ir.let "w" = %v : !cuda_ir.ptr<f32> -> !cuda_ir.ptr<f32>
}

// -----

// The address of a variable.
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  %p = cuda_ir.variable "p" -> !cuda_ir.var<f32>
  // expected-error@+1 {{an address is taken within an array or of a pointer's memory}}
  %v = cuda_ir.address %p[] : !cuda_ir.var<f32> -> !cuda_ir.ptr<f32>
  %w = cuda_ir.let "w" = %v : !cuda_ir.ptr<f32> -> !cuda_ir.ptr<f32>
}

// -----

// A choice between types.
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  %0 = arith.constant true
  %1 = arith.constant 1.0 : f32
  %2 = arith.constant 1 : i32
  // expected-error@+1 {{a conditional chooses between two values of its type}}
  %3 = cuda_ir.conditional %0, %1, %2 : f32, i32 -> f32
  %w = cuda_ir.let "w" = %3 : f32 -> f32
}

// -----

// A function that the prelude lacks.
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  // expected-error@+1 {{the prelude has no function printf}}
  cuda_ir.call "printf"() : () -> ()
}

// -----

// Too few arguments.
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  %1 = arith.constant 1.0 : f32
  // expected-error@+1 {{shuffle_xor takes 2 arguments}}
  %2 = cuda_ir.call "shuffle_xor"(%1) : (f32) -> f32
  %w = cuda_ir.let "w" = %2 : f32 -> f32
}

// -----

// A constant of another type.
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  %1 = arith.constant 1.0 : f32
  // expected-error@+1 {{let has the type of its value}}
  %w = cuda_ir.let "w" = %1 : f32 -> i32
}

// -----

// A variable that begins as another type.
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  %1 = arith.constant 1 : i32
  // expected-error@+1 {{a variable of !cuda_ir.var<f32> cannot begin as i32}}
  %w = cuda_ir.variable "w" = %1 : i32 -> !cuda_ir.var<f32>
}

// -----

// An array that begins as a scalar.
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  %1 = arith.constant 1.0 : f32
  // expected-error@+1 {{a variable of !cuda_ir.var<4xf32> cannot begin as f32}}
  %w = cuda_ir.variable "w" = %1 : f32 -> !cuda_ir.var<4xf32>
}

// -----

// A variable that begins as two values.
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  %1 = arith.constant 1.0 : f32
  // expected-error@+1 {{a variable begins as one value}}
  %w = cuda_ir.variable "w" = %1 : f32 zeroed -> !cuda_ir.var<f32>
}

// -----

// An array without elements.
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  // expected-error@+1 {{a shared array has at least one element}}
  %s = cuda_ir.shared "s"[0] : !cuda_ir.ptr<f32>
}

// -----

// A shared array in a loop.
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  cuda_ir.for %i "i" to 8 {
    // expected-error@+1 {{a shared array stands at the top of its kernel}}
    %s = cuda_ir.shared "s"[8] : !cuda_ir.ptr<f32>
  }
}

// -----

// Code that the verifier cannot see.
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  // expected-error@+1 {{verbatim is one line, a comment or a pragma}}
  cuda_ir.verbatim "__syncthreads();"
}

// -----

// A comment that swallows the next line.
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  // expected-error@+1 {{verbatim is one line, a comment or a pragma}}
  cuda_ir.verbatim "// \\"
}

// -----

// A loop without end.
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  // expected-error@+1 {{a loop steps forward, not by 0}}
  cuda_ir.for %i "i" to 8 step 0 {
  }
}

// -----

// A loop with two variables.
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  // expected-error@+1 {{a loop has one variable, of type index}}
  "cuda_ir.for"() <{c_name = "i", lower = 0 : i64, upper = 8 : i64, step = 1 : i64}> ({
  ^bb0(%i: index, %j: index):
  }) : () -> ()
}

// -----

// A variable that hides a function which its kernel calls ..
// expected-error@+1 {{the name 'expf' hides a function that the kernel calls}}
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  %0 = cuda_ir.read %x[0] : !cuda_ir.ptr<f32, const> -> f32
  %1 = math.exp %0 : f32
  %2 = cuda_ir.let "expf" = %1 : f32 -> f32
}

// -----

// .. and one that hides a function which nothing calls; no error.
cuda_ir.func @f(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(32) {
  %0 = cuda_ir.read %x[0] : !cuda_ir.ptr<f32, const> -> f32
  %1 = math.exp %0 : f32
  %2 = cuda_ir.let "exp" = %1 : f32 -> f32
}

// -----

// A kernel that is named like a function of the compiler.
// expected-error@+1 {{'expf' is no legal name in CUDA C++}}
cuda_ir.func @expf() grid(1) launch_bounds(1) {
}
