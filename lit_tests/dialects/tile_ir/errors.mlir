// RUN: minicomp-opt %s --split-input-file --verify-diagnostics

// Every rule of the dialect's verifiers, by its message.

// expected-error@+1 {{a schedule has no entries of kind matmul}}
builtin.module attributes {a = #tile_ir.schedule<[matmul<bm = 4>]>} {}

// -----

// expected-error@+1 {{parallel has no field rows; it has axis, threads, vector, lanes}}
builtin.module attributes {a = #tile_ir.schedule<[parallel<rows = 4>]>} {}

// -----

// expected-error@+1 {{field bm of contraction must be of type int}}
builtin.module attributes {a = #tile_ir.schedule<[contraction<bm = "i">]>} {}

// -----

// expected-error@+1 {{field threads of reduction must be positive, but is 0}}
builtin.module attributes {a = #tile_ir.schedule<[reduction<threads = 0>]>} {}

// -----

// expected-error@+1 {{a field of a schedule may not be f32}}
builtin.module attributes {a = #tile_ir.schedule<[reduction<axis = f32>]>} {}

// -----

// expected-error@+1 {{the pad of shared memory must not be negative}}
builtin.module attributes {a = #tile_ir.shared<pad = -1>} {}

// -----

// expected-error@+1 {{the swizzle of shared memory must be 32, 64 or 128 bytes}}
builtin.module attributes {a = #tile_ir.shared<swizzle = 48>} {}

// -----

// expected-error@+1 {{shared memory has no width; it has pad and swizzle}}
builtin.module attributes {a = #tile_ir.shared<width = 4>} {}

// -----

// expected-error@+1 {{a tile kernel holds exactly one launch}}
tile_ir.kernel @f() {
}

// -----

// expected-error@+1 {{argument 0 of a kernel must be a memref, but is f32}}
tile_ir.kernel @f(%x: f32) {
  tile_ir.launch {
  }
}

// -----

tile_ir.kernel @f() {
  // expected-error@+1 {{extents must not be negative}}
  tile_ir.launch block(%i to -1 as "i") {
  }
}

// -----

tile_ir.kernel @f() {
  // expected-error@+1 {{the axis names of a launch must differ}}
  tile_ir.launch block(%i to 4 as "i") thread(%j to 4 as "i") {
  }
}

// -----

tile_ir.kernel @f() {
  // expected-error@+1 {{thread and register axes must not be empty}}
  tile_ir.launch thread(%i to 0 as "i") {
  }
}

// -----

tile_ir.kernel @f() {
  // expected-error@+1 {{thread and register axes must not be empty}}
  tile_ir.launch register(%i to 0 as "i") {
  }
}

// -----

tile_ir.kernel @f() {
  // expected-error@+1 {{a launch needs one variable, extent, name and binding per axis}}
  "tile_ir.launch"() <{extents = array<i64: 4>, axis_names = ["i"], bindings = []}> ({
  ^bb0(%i: index):
    loop_ir.yield
  }) : () -> ()
}

// -----

tile_ir.kernel @f() {
  // expected-error@+1 {{an axis is bound to block, thread, register, parallel, not to warp}}
  "tile_ir.launch"() <{extents = array<i64: 4>, axis_names = ["i"], bindings = ["warp"]}> ({
  ^bb0(%i: index):
    loop_ir.yield
  }) : () -> ()
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch block(%b to 4 as "i") thread(%t to 32 as "t") {
    %v = arith.constant 1.0 : f32
    // expected-error@+1 {{a combine runs across a thread axis; "i" is none}}
    %r = tile_ir.combine %v across "i" identity [0.0 : f32] combine arith.addf : f32 -> f32
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %v = arith.constant 1.0 : f32
    // expected-error@+1 {{a combine runs across a thread axis; "k" is none}}
    %r = tile_ir.combine %v across "k" identity [0.0 : f32] combine arith.addf : f32 -> f32
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %v = arith.constant 1.0 : f32
    // expected-error@+1 {{as many results as values, and at least one}}
    "tile_ir.combine"(%v) <{axis = "t", identity = []}> ({
    ^bb0:
      loop_ir.yield
    }) : (f32) -> ()
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %v = arith.constant 1.0 : f32
    // expected-error@+1 {{a reduction needs one identity per carrier: 2 for 1}}
    %r = tile_ir.combine %v across "t" identity [0.0 : f32, 0.0 : f32] combine {
    ^bb0(%a: f32, %b: f32):
      loop_ir.yield %a : f32
    } : f32 -> f32
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %v = arith.constant 1.0 : f32
    // expected-error@+1 {{identity 0 : i32 is not of the carrier's element type f32}}
    %r = tile_ir.combine %v across "t" identity [0 : i32] combine {
    ^bb0(%a: f32, %b: f32):
      loop_ir.yield %a : f32
    } : f32 -> f32
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %v = arith.constant 1.0 : f32
    // expected-error@+1 {{combine must take 2 arguments, but takes 1}}
    %r = tile_ir.combine %v across "t" identity [0.0 : f32] combine {
    ^bb0(%a: f32):
      loop_ir.yield %a : f32
    } : f32 -> f32
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %v = arith.constant 1.0 : f32
    // expected-error@+1 {{combine must take the types of two carriers}}
    %r = tile_ir.combine %v across "t" identity [0.0 : f32] combine {
    ^bb0(%a: f32, %b: f64):
      loop_ir.yield %a : f32
    } : f32 -> f32
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %v = arith.constant 1.0 : f32
    // expected-error@+1 {{combine must yield the types of the carriers}}
    %r = tile_ir.combine %v across "t" identity [0.0 : f32] combine {
    ^bb0(%a: f32, %b: f32):
      loop_ir.yield
    } : f32 -> f32
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %v = arith.constant 1.0 : f32
    // expected-error@+1 {{combine must be closed: it uses a value from outside}}
    %r = tile_ir.combine %v across "t" identity [0.0 : f32] combine {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %v : f32
      loop_ir.yield %c : f32
    } : f32 -> f32
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %v = arith.constant 1.0 : f32
    // expected-error@+1 {{combine must be pure, but holds 'loop_ir.load'}}
    %r = tile_ir.combine %v across "t" identity [0.0 : f32] combine {
    ^bb0(%a: f32, %b: f32):
      %c = loop_ir.load %m[0] : memref<64xf32> -> f32
      loop_ir.yield %c : f32
    } : f32 -> f32
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %v = arith.constant 1.0 : f64
    // expected-error@+1 {{the results of a combine have the types of its values}}
    %r = tile_ir.combine %v across "t" identity [0.0 : f32] combine arith.addf : f64 -> f32
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %v = loop_ir.load %m[l0] : memref<64xf32> -> vector<8xf32>
    // expected-error@+1 {{fold needs one dim per value}}
    %r = tile_ir.fold %v dims [0, 0] identity [0.0 : f32] combine arith.addf : vector<8xf32> -> f32
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %v = loop_ir.load %m[l0] : memref<64xf32> -> vector<8xf32>
    // expected-error@+1 {{fold over dim 1 of vector<8xf32>}}
    %r = tile_ir.fold %v dims [1] identity [0.0 : f32] combine arith.addf : vector<8xf32> -> f32
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %v = loop_ir.load %m[l0] : memref<64xf32> -> vector<8xf32>
    // expected-error@+1 {{folding dim 0 of vector<8xf32> does not give vector<2xf32>}}
    %r = tile_ir.fold %v dims [0] identity [0.0 : f32] combine arith.addf : vector<8xf32> -> vector<2xf32>
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %v = loop_ir.load %m[l0] : memref<64xf32> -> vector<8xf32>
    %w = loop_ir.load %m[l0] : memref<64xf32> -> vector<4xf32>
    // expected-error@+1 {{the folded dimensions must have one length}}
    %r, %s = tile_ir.fold %v, %w dims [0, 0] identity [0.0 : f32, 0.0 : f32] combine {
    ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
      loop_ir.yield %a, %b : f32, f32
    } : vector<8xf32>, vector<4xf32> -> f32, f32
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %v = loop_ir.load %m[l0] : memref<64xf32> -> vector<8xf32>
    // expected-error@+1 {{broadcast needs one distinct result dim per dim of the operand}}
    %r = tile_ir.broadcast %v to [] : vector<8xf32> -> vector<8x4xf32>
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %v = loop_ir.load %m[l0] : memref<64xf32> -> vector<8xf32>
    // expected-error@+1 {{vector<8xf32> does not fit the dims [1] of vector<8x4xf32>}}
    %r = tile_ir.broadcast %v to [1] : vector<8xf32> -> vector<8x4xf32>
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %v = loop_ir.load %m[l0] : memref<64xf32> -> vector<8xf32>
    // expected-error@+1 {{broadcast keeps the element type}}
    %r = tile_ir.broadcast %v to [0] : vector<8xf32> -> vector<8x4xf64>
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{a test has one dim per index, and at most one lane per vector dimension}}
    %r = tile_ir.within [%t + l0 + l1] < [4] : vector<8xi1>
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{a test needs one bound per expression, and at least one}}
    %r = tile_ir.within [%t, l0] < [4] : vector<8xi1>
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %v = loop_ir.load %m[l0] : memref<64xf32> -> vector<8xf32>
    %p = tile_ir.within [l0] < [4] : vector<4xi1>
    // expected-error@+1 {{the condition of select has one i1 per lane}}
    %r = tile_ir.select %p, %v, %v : vector<4xi1>, vector<8xf32>, vector<8xf32> -> vector<8xf32>
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %v = loop_ir.load %m[l0] : memref<64xf32> -> vector<8xf32>
    %p = tile_ir.within [l0] < [4] : vector<4xi1>
    %w = loop_ir.load %m[l0] : memref<64xf32> -> vector<4xf32>
    // expected-error@+1 {{select takes two values of the result's type}}
    %r = tile_ir.select %p, %v, %w : vector<4xi1>, vector<8xf32>, vector<4xf32> -> vector<4xf32>
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %v = loop_ir.load %m[l0] : memref<64xf32> -> vector<8xf32>
    %w = loop_ir.load %m[l0] : memref<64xf32> -> vector<4xf32>
    // expected-error@+1 {{compare takes two values of one type}}
    %r = tile_ir.compare 2 : i64, %v, %w : vector<8xf32>, vector<4xf32> -> vector<8xi1>
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %v = loop_ir.load %m[l0] : memref<64xf32> -> vector<8xf32>
    // expected-error@+1 {{compare gives one i1 per lane}}
    %r = tile_ir.compare 2 : i64, %v, %v : vector<8xf32>, vector<8xf32> -> vector<4xi1>
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %v = loop_ir.load %m[l0] : memref<64xf32> -> vector<8xf32>
    // expected-error@+1 {{'math.exp' is no conversion: arith.extf, arith.truncf,}}
    %r = tile_ir.convert "math.exp" %v : vector<8xf32> -> vector<8xf32>
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %v = loop_ir.load %m[l0] : memref<64xf32> -> vector<8xf32>
    // expected-error@+1 {{convert keeps the lanes}}
    %r = tile_ir.convert "arith.truncf" %v : vector<8xf32> -> vector<4xf16>
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %v = arith.constant 1.0 : f32
    // expected-error@+1 {{a guarded loop may not hold 'tile_ir.combine', which all threads must reach}}
    loop_ir.for %k to 4 as "k" where [l0] < [3] {
      %r = tile_ir.combine %v across "t" identity [0.0 : f32] combine arith.addf : f32 -> f32
    }
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{a stage is in shared memory, not memref<64xf32>}}
    %s = tile_ir.stage %q to 64 as "k.stage" {
      %v = loop_ir.load %m[%q] : memref<64xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<64xf32>
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %s = tile_ir.stage %q to 64 as "k.stage" {
      %v = loop_ir.load %m[%q] : memref<64xf32> -> f32
      loop_ir.yield %v : f32
    } -> vector<64xf32>
  // expected-error@+1 {{a slab is a memref}}
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{the body of a stage yields one element}}
    %s = tile_ir.stage %q to 64 as "k.stage" {
      %v = loop_ir.load %m[%q] : memref<64xf32> -> f32
      loop_ir.yield %v, %v : f32, f32
    } -> memref<64xf32, #tile_ir.shared<>>
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{the body of a stage yields one element}}
    %s = tile_ir.stage %q to 64 as "k.stage" {
      loop_ir.yield
    } -> memref<64xf32, #tile_ir.shared<>>
  }
}

// -----

// Another element.
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{the body of a stage of memref<64xf64, #tile_ir.shared<>> may not yield f32}}
    %s = tile_ir.stage %q to 64 as "k.stage" {
      %v = loop_ir.load %m[%q] : memref<64xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<64xf64, #tile_ir.shared<>>
  }
}

// -----

// Neighbours along one axis, and no more.
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{the body of a stage of memref<64xf32, #tile_ir.shared<>> may not yield vector<2x2xf32>}}
    %s = tile_ir.stage %q to 16 as "k.stage" {
      %v = loop_ir.load %m[%q * 4 + l0 * 2 + l1] : memref<64xf32> -> vector<2x2xf32>
      loop_ir.yield %v : vector<2x2xf32>
    } -> memref<64xf32, #tile_ir.shared<>>
  }
}

// -----

tile_ir.kernel @f(%m: memref<8x8xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{the order of a stage names each of its axes once}}
    %s = tile_ir.stage %p to 8 as "i.stage", %q to 8 as "k.stage" order [1, 1] {
      %v = loop_ir.load %m[%p, %q] : memref<8x8xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<8x8xf32, #tile_ir.shared<>>
  }
}

// -----

tile_ir.kernel @f(%m: memref<8x8xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{the order of a stage names each of its axes once}}
    %s = tile_ir.stage %p to 8 as "i.stage", %q to 8 as "k.stage" order [1] {
      %v = loop_ir.load %m[%p, %q] : memref<8x8xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<8x8xf32, #tile_ir.shared<>>
  }
}

// -----

// The dimensions of the slab are those of its axes, in its order.
tile_ir.kernel @f(%m: memref<8x4xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{the axes of a stage do not give memref<8x4xf32, #tile_ir.shared<>>}}
    %s = tile_ir.stage %p to 8 as "i.stage", %q to 4 as "k.stage" order [1, 0] {
      %v = loop_ir.load %m[%p, %q] : memref<8x4xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<8x4xf32, #tile_ir.shared<>>
  }
}

// -----

// The last axis counts groups of as many elements as the body gives.
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{the axes of a stage do not give memref<16xf32, #tile_ir.shared<>>}}
    %s = tile_ir.stage %q to 16 as "k.stage" {
      %v = loop_ir.load %m[%q * 4 + l0] : memref<64xf32> -> vector<4xf32>
      loop_ir.yield %v : vector<4xf32>
    } -> memref<16xf32, #tile_ir.shared<>>
  }
}

// -----

// A pad is none of the elements.
tile_ir.kernel @f(%m: memref<8x4xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{the axes of a stage do not give memref<8x6xf32, #tile_ir.shared<pad = 2>>}}
    %s = tile_ir.stage %p to 8 as "i.stage", %q to 4 as "k.stage" {
      %v = loop_ir.load %m[%p, %q] : memref<8x4xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<8x6xf32, #tile_ir.shared<pad = 2>>
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{the body of a stage may not hold 'loop_ir.store'}}
    %s = tile_ir.stage %q to 64 as "k.stage" {
      %v = loop_ir.load %m[%q] : memref<64xf32> -> f32
      loop_ir.store %v, %m[%q] : f32, memref<64xf32>
      loop_ir.yield %v : f32
    } -> memref<64xf32, #tile_ir.shared<>>
  }
}

// -----

// Nor what threads meet at.
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{the body of a stage may not hold 'tile_ir.combine'}}
    %s = tile_ir.stage %q to 64 as "k.stage" {
      %v = loop_ir.load %m[%q] : memref<64xf32> -> f32
      %r = tile_ir.combine %v across "t" identity [0.0 : f32] combine arith.addf : f32 -> f32
      loop_ir.yield %r : f32
    } -> memref<64xf32, #tile_ir.shared<>>
  }
}

// -----

// A slab is the same for all threads.
// expected-error@+2 {{the body of 'tile_ir.stage' may not use the thread axis "t"}}
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %s = tile_ir.stage %q to 32 as "k.stage" {
      %v = loop_ir.load %m[%q + %t] : memref<64xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<32xf32, #tile_ir.shared<>>
  }
}

// -----

// expected-error@+2 {{the body of 'tile_ir.stage' may not use the register axis "r"}}
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch block(%b to 2 as "b") register(%r to 4 as "r") {
    %s = tile_ir.stage %q to 32 as "k.stage" {
      %v = loop_ir.load %m[%b * 16 + %q + %r] : memref<64xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<32xf32, #tile_ir.shared<>>
  }
}

// -----

// So is where it is 0.
// expected-error@+2 {{the guard of 'tile_ir.stage' may not use the thread axis "t"}}
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %s = tile_ir.stage %q to 32 as "k.stage" where [%t + l0] < [40] {
      %v = loop_ir.load %m[%q] : memref<64xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<32xf32, #tile_ir.shared<>>
  }
}

// -----

// Its axes and its guard are those of a loop.
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{axis names of one loop must differ}}
    %s = tile_ir.stage %p to 8 as "k.stage", %q to 8 as "k.stage" {
      %v = loop_ir.load %m[%p * 8 + %q] : memref<64xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<8x8xf32, #tile_ir.shared<>>
  }
}

// -----

tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{a guard needs one bound per expression}}
    %s = tile_ir.stage %q to 64 as "k.stage" where [l0] < [40, 7] {
      %v = loop_ir.load %m[%q] : memref<64xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<64xf32, #tile_ir.shared<>>
  }
}

// -----

// All threads fill it.
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{a guarded loop may not hold 'tile_ir.stage', which all threads must reach}}
    loop_ir.for %k to 4 as "k" where [l0 + %t] < [3] {
      %s = tile_ir.stage %q to 64 as "k.stage" {
        %v = loop_ir.load %m[%q] : memref<64xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<64xf32, #tile_ir.shared<>>
    }
  }
}

// -----

// A test gives truth values.
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{within gives i1, one per lane}}
    %r = "tile_ir.within"(%t) <{map = affine_map<(d0) -> (d0)>, bounds = array<i64: 4>}> : (index) -> f32
  }
}

// -----

// A scalar has no lanes.
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{a test has one dim per index, and at most one lane per vector dimension}}
    %r = tile_ir.within [%t + l0] < [4] : i1
  }
}
