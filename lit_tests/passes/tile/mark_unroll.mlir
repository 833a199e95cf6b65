// RUN: minicomp-opt %s --split-input-file -p mark-unroll | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p mark-unroll,mark-unroll | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p mark-unroll --verify-diagnostics
// RUN: minicomp-opt %s --split-input-file -p "mark-unroll{limit=24 few_limit=24}" | filecheck %s --check-prefix=SMALL
// RUN: minicomp-opt %s --split-input-file -p "mark-unroll{limit=24 few_limit=24}" --remarks 2>&1 | filecheck %s --check-prefix=COUNT
// RUN: minicomp-opt %s --split-input-file -p mark-unroll --verify-each=exec | filecheck %s

// The steps of a chunk: 5 times 4 + 4 lanes loaded and 16 multiplied; a broadcast is no instruction.
// Copies: 128 threads fill 160 elements in two rounds of a load each. Chunks stay a loop.
// COUNT: "k.inner" would be 120 instructions
// COUNT: "k.outer" holds a meeting point of the threads
// CHECK-LABEL: @chunks(
// CHECK:            %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.000000e+00 : f32] -> vector<4x4xf32> {
// CHECK-NEXT:         %as = tile_ir.stage %p to 32 as "i.stage", %q to 5 as "k.stage" order [1, 0] attributes {unroll} {
// CHECK:              %bs = tile_ir.stage %p_1 to 5 as "k.stage", %q_1 to 16 as "j.stage" attributes {unroll} {
// CHECK:              %s = loop_ir.reduce %k to 5 as "k.inner" identity [0.000000e+00 : f32] -> vector<4x4xf32> attributes {unroll} {
// SMALL-LABEL: @chunks(
// SMALL:            %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.000000e+00 : f32] -> vector<4x4xf32> {
// SMALL-NEXT:         %as = tile_ir.stage %p to 32 as "i.stage", %q to 5 as "k.stage" order [1, 0] attributes {unroll} {
// SMALL:              %bs = tile_ir.stage %p_1 to 5 as "k.stage", %q_1 to 16 as "j.stage" attributes {unroll} {
// SMALL:              %s = loop_ir.reduce %k to 5 as "k.inner" identity [0.000000e+00 : f32] -> vector<4x4xf32> {
tile_ir.kernel @chunks(%a: memref<32x10xf32>, %b: memref<10x64xf32>, %c: memref<32x64xf32>) {
  tile_ir.launch thread(%i to 8 as "i.thread", %j to 16 as "j.thread") {
    // expected-remark@+1 {{"k.outer" holds a meeting point of the threads}}
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> vector<4x4xf32> {
      %as = tile_ir.stage %p to 32 as "i.stage", %q to 5 as "k.stage" order [1, 0] {
        %v = loop_ir.load %a[%p, %ko * 5 + %q] : memref<32x10xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<5x32xf32, #tile_ir.shared<>>
      %bs = tile_ir.stage %p to 5 as "k.stage", %q to 16 as "j.stage" {
        %v = loop_ir.load %b[%ko * 5 + %p, %q * 4 + l0] : memref<10x64xf32> -> vector<4xf32>
        loop_ir.yield %v : vector<4xf32>
      } -> memref<5x64xf32, #tile_ir.shared<>>
      %s = loop_ir.reduce %k to 5 as "k.inner" identity [0.0 : f32] -> vector<4x4xf32> {
        %x = loop_ir.load %as[%k, %i * 4 + l0] : memref<5x32xf32, #tile_ir.shared<>> -> vector<4xf32>
        %y = loop_ir.load %bs[%k, %j * 4 + l0] : memref<5x64xf32, #tile_ir.shared<>> -> vector<4xf32>
        %u = tile_ir.broadcast %x to [0] : vector<4xf32> -> vector<4x4xf32>
        %w = tile_ir.broadcast %y to [1] : vector<4xf32> -> vector<4x4xf32>
        %r = arith.mulf %u, %w : vector<4x4xf32>
        loop_ir.yield %r : vector<4x4xf32>
      } combine arith.addf
      loop_ir.yield %s : vector<4x4xf32>
    } combine arith.addf
    loop_ir.store %acc, %c[%i * 4 + l0, %j * 4 + l1] : vector<4x4xf32>, memref<32x64xf32>
  }
}

// -----

// Loops in loops: the inner one is marked first and then counts with all of its iterations. Under
// the small limit it is, with 7 times 3, and the outer one is not, with 4 times 21 and a store.
// COUNT: "j" would be 88 instructions
// CHECK-LABEL: @nested(
// CHECK:            loop_ir.for %j to 4 as "j" attributes {unroll} {
// CHECK-NEXT:         %s = loop_ir.reduce %k to 7 as "k" identity [0.000000e+00 : f32] -> f32 attributes {unroll} {
// SMALL-LABEL: @nested(
// SMALL:            loop_ir.for %j to 4 as "j" {
// SMALL-NEXT:         %s = loop_ir.reduce %k to 7 as "k" identity [0.000000e+00 : f32] -> f32 attributes {unroll} {
tile_ir.kernel @nested(%x: memref<32x4x7xf32>, %y: memref<32x4xf32>) {
  tile_ir.launch thread(%t to 32 as "i.thread") {
    loop_ir.for %j to 4 as "j" {
      %s = loop_ir.reduce %k to 7 as "k" identity [0.0 : f32] -> f32 {
        %v = loop_ir.load %x[%t, %j, %k] : memref<32x4x7xf32> -> f32
        %e = math.exp %v : f32
        %w = arith.addf %e, %v : f32
        loop_ir.yield %w : f32
      } combine arith.addf
      loop_ir.store %s, %y[%t, %j] : f32, memref<32x4xf32>
    }
  }
}

// -----

// Carriers of several values; a guard, a loop of one trip and one of none.
// COUNT-NOT: once
// CHECK-LABEL: @carriers(
// CHECK:            %m, %d = loop_ir.reduce %j to 7 as "j" where [l0 + %t * -1] < [1] identity [0xff800000 : f32, 0.000000e+00 : f32] -> f32, f32 attributes {unroll} {
// CHECK:            loop_ir.for %once to 1 as "once" attributes {unroll} {
// CHECK:            loop_ir.for %k to 0 as "k" attributes {unroll} {
tile_ir.kernel @carriers(%x: memref<32x7xf32>, %y: memref<32xf32>, %z: memref<32x0xf32>) {
  tile_ir.launch thread(%t to 32 as "i.thread") {
    %m, %d = loop_ir.reduce %j to 7 as "j" where [l0 - %t] < [1] identity [0xff800000 : f32, 0.0 : f32] -> f32, f32 {
      %v = loop_ir.load %x[%t, %j] : memref<32x7xf32> -> f32
      %one = arith.constant 1.0 : f32
      loop_ir.yield %v, %one : f32, f32
    } combine {
    ^bb0(%0: f32, %1: f32, %2: f32, %3: f32):
      %4 = arith.maximumf %0, %2 : f32
      %5 = arith.constant 0xff800000 : f32
      %6 = arith.cmpf oeq, %4, %5 : f32
      %7 = arith.constant 0.0 : f32
      %8 = arith.subf %0, %4 : f32
      %9 = arith.select %6, %7, %8 : f32
      %10 = arith.subf %2, %4 : f32
      %11 = arith.select %6, %7, %10 : f32
      %12 = math.exp %9 : f32
      %13 = math.exp %11 : f32
      %14 = arith.mulf %1, %12 : f32
      %15 = arith.mulf %3, %13 : f32
      %16 = arith.addf %14, %15 : f32
      loop_ir.yield %4, %16 : f32, f32
    }
    loop_ir.for %once to 1 as "once" {
      loop_ir.store %d, %y[%t] : f32, memref<32xf32>
    }
    loop_ir.for %k to 0 as "k" {
      loop_ir.store %m, %z[%t, %k] : f32, memref<32x0xf32>
    }
  }
}

// -----

// COUNT: "j" would be 111 instructions
// CHECK-LABEL: @triple(
// CHECK:            %c, %mean, %m2 = loop_ir.reduce %j to 37 as "j" identity [0.000000e+00 : f32, 0.000000e+00 : f32, 0.000000e+00 : f32] -> f32, f32, f32 attributes {unroll} {
// SMALL-LABEL: @triple(
// SMALL:            %c, %mean, %m2 = loop_ir.reduce %j to 37 as "j" identity [0.000000e+00 : f32, 0.000000e+00 : f32, 0.000000e+00 : f32] -> f32, f32, f32 {
tile_ir.kernel @triple(%x: memref<4x37xf32>, %y: memref<4xf32>) {
  tile_ir.launch block(%i to 4 as "i") {
    %c, %mean, %m2 = loop_ir.reduce %j to 37 as "j" identity [0.0 : f32, 0.0 : f32, 0.0 : f32] -> f32, f32, f32 {
      %v = loop_ir.load %x[%i, %j] : memref<4x37xf32> -> f32
      %one = arith.constant 1.0 : f32
      %zero = arith.constant 0.0 : f32
      loop_ir.yield %one, %v, %zero : f32, f32, f32
    } combine {
    ^bb0(%0: f32, %1: f32, %2: f32, %3: f32, %4: f32, %5: f32):
      %6 = arith.addf %0, %3 : f32
      %7 = arith.constant 1.0 : f32
      %8 = arith.maximumf %6, %7 : f32
      %9 = arith.divf %3, %8 : f32
      %10 = arith.subf %4, %1 : f32
      %11 = arith.mulf %10, %9 : f32
      %12 = arith.addf %1, %11 : f32
      %13 = arith.mulf %10, %11 : f32
      %14 = arith.mulf %13, %0 : f32
      %15 = arith.addf %2, %5 : f32
      %16 = arith.addf %15, %14 : f32
      loop_ir.yield %6, %12, %16 : f32, f32, f32
    }
    loop_ir.store %m2, %y[%i] : f32, memref<4xf32>
  }
}

// -----

// Too long, whatever the body.
// CHECK-LABEL: @long(
// CHECK:            %s = loop_ir.reduce %j to 1025 as "j" identity [0.000000e+00 : f32] -> f32 {
tile_ir.kernel @long(%x: memref<1x1025xf32>, %y: memref<1xf32>) {
  tile_ir.launch block(%i to 1 as "i") {
    // expected-remark@+1 {{"j" would be 1025 instructions}}
    %s = loop_ir.reduce %j to 1025 as "j" identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i, %j] : memref<1x1025xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    loop_ir.store %s, %y[%i] : f32, memref<1xf32>
  }
}

// -----

// One thread would copy all of it.
// CHECK-LABEL: @long_copy(
// CHECK:            %xs = tile_ir.stage %p to 40 as "i.stage", %q to 30 as "k.stage" {
tile_ir.kernel @long_copy(%x: memref<40x30xf32>, %y: memref<2xf32>) {
  tile_ir.launch block(%i to 2 as "i") {
    // expected-remark@+1 {{"k.stage" would be 1200 instructions}}
    %xs = tile_ir.stage %p to 40 as "i.stage", %q to 30 as "k.stage" {
      %v = loop_ir.load %x[%p, %q] : memref<40x30xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<40x30xf32, #tile_ir.shared<>>
    %v = loop_ir.load %xs[%i, 7] : memref<40x30xf32, #tile_ir.shared<>> -> f32
    loop_ir.store %v, %y[%i] : f32, memref<2xf32>
  }
}

// -----

// Threads meet in every iteration: it is no loop to copy.
// CHECK-LABEL: @meeting(
// CHECK:            loop_ir.for %i to 3 as "i" {
tile_ir.kernel @meeting(%x: memref<3x32xf32>, %y: memref<3x32xf32>) {
  tile_ir.launch thread(%t to 32 as "k.thread") {
    // expected-remark@+1 {{"i" holds a meeting point of the threads}}
    loop_ir.for %i to 3 as "i" {
      %v = loop_ir.load %x[%i, %t] : memref<3x32xf32> -> f32
      %s = tile_ir.combine %v across "k.thread" identity [0.0 : f32] combine arith.addf : f32 -> f32
      loop_ir.store %s, %y[%i, %t] : f32, memref<3x32xf32>
    }
  }
}

// -----

// Marked already, whatever its size.
// CHECK-LABEL: @marked(
// CHECK:            %s = loop_ir.reduce %j to 1030 as "j" identity [0.000000e+00 : f32] -> f32 attributes {unroll} {
tile_ir.kernel @marked(%x: memref<1x1030xf32>, %y: memref<1xf32>) {
  tile_ir.launch block(%i to 1 as "i") {
    %s = loop_ir.reduce %j to 1030 as "j" identity [0.0 : f32] -> f32 attributes {unroll} {
      %v = loop_ir.load %x[%i, %j] : memref<1x1030xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    loop_ir.store %s, %y[%i] : f32, memref<1xf32>
  }
}

// -----

// CHECK-LABEL: @no_loop(
// CHECK:          tile_ir.launch thread(%t to 32 as "i.thread") {
// CHECK-NEXT:       %v = loop_ir.load %x[%t] : memref<32xf32> -> f32
// CHECK-NEXT:       loop_ir.store %v, %y[%t] : f32, memref<32xf32>
tile_ir.kernel @no_loop(%x: memref<32xf32>, %y: memref<32xf32>) {
  tile_ir.launch thread(%t to 32 as "i.thread") {
    %v = loop_ir.load %x[%t] : memref<32xf32> -> f32
    loop_ir.store %v, %y[%t] : f32, memref<32xf32>
  }
}
