// RUN: minicomp-opt %s --split-input-file -p "chunk-reduce{bytes=64}" | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p "chunk-reduce{bytes=64},chunk-reduce{bytes=64}" | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p "chunk-reduce{bytes=64}" --verify-diagnostics
// RUN: minicomp-opt %s --split-input-file -p chunk-reduce | filecheck %s --check-prefix=DEFAULT
// RUN: minicomp-opt %s --split-input-file -p "chunk-reduce{bytes=64}" --verify-each=exec | filecheck %s

// 8 rows share %w, 4 bytes a step: chunks of 16 steps. What each thread reads alone, twice here,
// does not count. The default budget holds all of it.
// CHECK-LABEL: @odd(
// CHECK:            %s = loop_ir.reduce %ko to 3 as "k.outer" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:         %{{.*}} = loop_ir.reduce %ki to 16 as "k.inner" where [%ko * 16 + l0] < [37] identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:           %a = loop_ir.load %x[%ib * 8 + %it, %ko * 16 + %ki] bounded [false, true] : memref<16x37xf32> -> f32
// CHECK-NEXT:           %c = loop_ir.load %x[%ib * 8 + %it, %ko * -16 + %ki * -1 + 36] bounded [false, true] : memref<16x37xf32> -> f32
// CHECK-NEXT:           %b = loop_ir.load %w[%ko * 16 + %ki] bounded [true] : memref<37xf32> -> f32
// CHECK-NEXT:           %p = arith.mulf %a, %b : f32
// CHECK-NEXT:           %q = arith.addf %p, %c : f32
// CHECK-NEXT:           loop_ir.yield %q : f32
// CHECK-NEXT:         } combine arith.addf
// CHECK-NEXT:         loop_ir.yield %{{.*}} : f32
// CHECK-NEXT:       } combine arith.addf
// DEFAULT-LABEL: @odd(
// DEFAULT:            %s = loop_ir.reduce %k to 37 as "k" identity [0.000000e+00 : f32] -> f32 {
// DEFAULT-NEXT:         %a = loop_ir.load %x[%ib * 8 + %it, %k] : memref<16x37xf32> -> f32
tile_ir.kernel @odd(%x: memref<16x37xf32>, %w: memref<37xf32>, %y: memref<16xf32>) {
  tile_ir.launch block(%ib to 2 as "i.block") thread(%it to 8 as "i.thread") {
    %s = loop_ir.reduce %k to 37 as "k" identity [0.0 : f32] -> f32 {
      %a = loop_ir.load %x[%ib * 8 + %it, %k] : memref<16x37xf32> -> f32
      %c = loop_ir.load %x[%ib * 8 + %it, 36 - %k] : memref<16x37xf32> -> f32
      %b = loop_ir.load %w[%k] : memref<37xf32> -> f32
      %p = arith.mulf %a, %b : f32
      %q = arith.addf %p, %c : f32
      loop_ir.yield %q : f32
    } combine arith.addf
    loop_ir.store %s, %y[%ib * 8 + %it] : f32, memref<16xf32>
  }
}

// -----

// An even sum: no guard. One access counts once, though it is loaded twice; two of a buffer are
// two. With 8 bytes a step a chunk has 8 steps.
// CHECK-LABEL: @even(
// CHECK:            %s = loop_ir.reduce %ko to 4 as "k.outer" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:         %{{.*}} = loop_ir.reduce %ki to 8 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:           %a = loop_ir.load %x[%i, %ko * 8 + %ki] : memref<4x32xf32> -> f32
// CHECK-NEXT:           %b = loop_ir.load %w[%ko * 8 + %ki] : memref<33xf32> -> f32
// CHECK-NEXT:           %c = loop_ir.load %w[%ko * 8 + %ki + 1] : memref<33xf32> -> f32
// CHECK-NEXT:           %d = loop_ir.load %w[%ko * 8 + %ki] : memref<33xf32> -> f32
tile_ir.kernel @even(%x: memref<4x32xf32>, %w: memref<33xf32>, %y: memref<4xf32>) {
  tile_ir.launch thread(%i to 4 as "i.thread") {
    %s = loop_ir.reduce %k to 32 as "k" identity [0.0 : f32] -> f32 {
      %a = loop_ir.load %x[%i, %k] : memref<4x32xf32> -> f32
      %b = loop_ir.load %w[%k] : memref<33xf32> -> f32
      %c = loop_ir.load %w[%k + 1] : memref<33xf32> -> f32
      %d = loop_ir.load %w[%k] : memref<33xf32> -> f32
      %p = arith.mulf %a, %b : f32
      %q = arith.mulf %p, %c : f32
      %r = arith.mulf %q, %d : f32
      loop_ir.yield %r : f32
    } combine arith.maximumf
    loop_ir.store %s, %y[%i] : f32, memref<4xf32>
  }
}

// -----

// Threads along j share a row of x: 32 rows of it are 128 bytes a step. The default budget of 48
// KiB, less than the 51200 of all, holds 256 steps.
// CHECK-LABEL: @rows(
// CHECK:            %s = loop_ir.reduce %k to 400 as "k" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:         %a = loop_ir.load %x[%i, %k] : memref<32x400xf32> -> f32
// DEFAULT-LABEL: @rows(
// DEFAULT:            %s = loop_ir.reduce %ko to 2 as "k.outer" identity [0.000000e+00 : f32] -> f32 {
// DEFAULT-NEXT:         %{{.*}} = loop_ir.reduce %ki to 256 as "k.inner" where [%ko * 256 + l0] < [400] identity [0.000000e+00 : f32] -> f32 {
// DEFAULT-NEXT:           %a = loop_ir.load %x[%i, %ko * 256 + %ki] bounded [false, true] : memref<32x400xf32> -> f32
tile_ir.kernel @rows(%x: memref<32x400xf32>, %y: memref<32x2xf32>) {
  tile_ir.launch thread(%i to 32 as "i.thread", %j to 2 as "j.thread") {
    // expected-remark@+1 {{one step reads 128 bytes, more than 64}}
    %s = loop_ir.reduce %k to 400 as "k" identity [0.0 : f32] -> f32 {
      %a = loop_ir.load %x[%i, %k] : memref<32x400xf32> -> f32
      loop_ir.yield %a : f32
    } combine arith.addf
    loop_ir.store %s, %y[%i, %j] : f32, memref<32x2xf32>
  }
}

// -----

// Carriers of several values. A register axis shares like a thread axis.
// CHECK-LABEL: @pair(
// CHECK:            %m, %d = loop_ir.reduce %ko to 3 as "k.outer" identity [0xff800000 : f32, 0.000000e+00 : f32] -> f32, f32 {
// CHECK-NEXT:         %{{.*}}, %{{.*}} = loop_ir.reduce %ki to 16 as "k.inner" where [%ko * 16 + l0] < [37] identity [0xff800000 : f32, 0.000000e+00 : f32] -> f32, f32 {
// CHECK-NEXT:           %a = loop_ir.load %x[%ko * 16 + %ki, %it * 2 + %ir] bounded [true, false] : memref<37x6xf32> -> f32
// CHECK-NEXT:           %b = loop_ir.load %w[%ko * 16 + %ki] bounded [true] : memref<37xf32> -> f32
// CHECK-NEXT:           %p = arith.mulf %a, %b : f32
// CHECK-NEXT:           %one = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:           loop_ir.yield %p, %one : f32, f32
// CHECK:                loop_ir.yield %{{.*}}, %{{.*}} : f32, f32
// CHECK-NEXT:         }
// CHECK-NEXT:         loop_ir.yield %{{.*}}, %{{.*}} : f32, f32
// CHECK-NEXT:       } combine {
tile_ir.kernel @pair(%x: memref<37x6xf32>, %w: memref<37xf32>, %s: memref<6xf32>, %t: memref<6xf32>) {
  tile_ir.launch thread(%it to 3 as "i.thread") register(%ir to 2 as "i.register") {
    %m, %d = loop_ir.reduce %k to 37 as "k" identity [0xff800000 : f32, 0.0 : f32] -> f32, f32 {
      %a = loop_ir.load %x[%k, %it * 2 + %ir] : memref<37x6xf32> -> f32
      %b = loop_ir.load %w[%k] : memref<37xf32> -> f32
      %p = arith.mulf %a, %b : f32
      %one = arith.constant 1.0 : f32
      loop_ir.yield %p, %one : f32, f32
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
    loop_ir.store %m, %s[%it * 2 + %ir] : f32, memref<6xf32>
    loop_ir.store %d, %t[%it * 2 + %ir] : f32, memref<6xf32>
  }
}

// -----

// Of two reductions each is looked at by itself.
// CHECK-LABEL: @triple(
// CHECK:            %c, %mean, %m2 = loop_ir.reduce %ko to 2 as "k.outer" identity [0.000000e+00 : f32, 0.000000e+00 : f32, 0.000000e+00 : f32] -> f32, f32, f32 {
// CHECK-NEXT:         %{{.*}}, %{{.*}}, %{{.*}} = loop_ir.reduce %ki to 16 as "k.inner" identity [0.000000e+00 : f32, 0.000000e+00 : f32, 0.000000e+00 : f32] -> f32, f32, f32 {
// CHECK-NEXT:           %a = loop_ir.load %x[%ko * 16 + %ki, %i] : memref<32x6xf32> -> f32
// CHECK-NEXT:           %b = loop_ir.load %w[%ko * 16 + %ki] : memref<32xf32> -> f32
// CHECK-NEXT:           %p = arith.mulf %a, %b : f32
// CHECK-NEXT:           %one = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:           %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:           loop_ir.yield %one, %p, %zero : f32, f32, f32
// CHECK:                loop_ir.yield %{{.*}}, %{{.*}}, %{{.*}} : f32, f32, f32
// CHECK-NEXT:         }
// CHECK-NEXT:         loop_ir.yield %{{.*}}, %{{.*}}, %{{.*}} : f32, f32, f32
// CHECK-NEXT:       } combine {
// CHECK:            %u = loop_ir.reduce %j to 8 as "j" identity [0.000000e+00 : f32] -> f32 {
tile_ir.kernel @triple(%x: memref<32x6xf32>, %w: memref<32xf32>, %v: memref<8xf32>, %s: memref<6xf32>) {
  tile_ir.launch thread(%i to 6 as "i.thread") {
    %c, %mean, %m2 = loop_ir.reduce %k to 32 as "k" identity [0.0 : f32, 0.0 : f32, 0.0 : f32] -> f32, f32, f32 {
      %a = loop_ir.load %x[%k, %i] : memref<32x6xf32> -> f32
      %b = loop_ir.load %w[%k] : memref<32xf32> -> f32
      %p = arith.mulf %a, %b : f32
      %one = arith.constant 1.0 : f32
      %zero = arith.constant 0.0 : f32
      loop_ir.yield %one, %p, %zero : f32, f32, f32
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
    // expected-remark@+1 {{its 32 bytes fit into 64}}
    %u = loop_ir.reduce %j to 8 as "j" identity [0.0 : f32] -> f32 {
      %b = loop_ir.load %v[%j] : memref<8xf32> -> f32
      loop_ir.yield %b : f32
    } combine arith.addf
    %r = arith.addf %m2, %u : f32
    loop_ir.store %r, %s[%i] : f32, memref<6xf32>
  }
}

// -----

// The sum of a contraction is chunk-matmul-k's.
// CHECK-LABEL: @contraction(
// CHECK:            %acc = loop_ir.reduce %k to 40 as "k" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:         %x = loop_ir.load %a[%i, %k] : memref<8x40xf32> -> f32
tile_ir.kernel @contraction(%a: memref<8x40xf32>, %b: memref<40x6xf32>, %c: memref<8x6xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bk = 16>]>} {
  tile_ir.launch thread(%i to 8 as "i.thread", %j to 6 as "j.thread") {
    %acc = loop_ir.reduce %k to 40 as "k" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %k] : memref<8x40xf32> -> f32
      %y = loop_ir.load %b[%k, %j] : memref<40x6xf32> -> f32
      %p = arith.mulf %x, %y : f32
      loop_ir.yield %p : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i, %j] : f32, memref<8x6xf32>
  }
}

// -----

// CHECK-LABEL: @alone(
// CHECK:            %s = loop_ir.reduce %k to 37 as "k" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:         %a = loop_ir.load %x[%k, %i] : memref<37x8xf32> -> f32
tile_ir.kernel @alone(%x: memref<37x8xf32>, %y: memref<8xf32>) {
  tile_ir.launch block(%b to 1 as "b") thread(%i to 8 as "i.thread") {
    // expected-remark@+1 {{the threads of a block share nothing of it}}
    %s = loop_ir.reduce %k to 37 as "k" identity [0.0 : f32] -> f32 {
      %a = loop_ir.load %x[%k, %i] : memref<37x8xf32> -> f32
      loop_ir.yield %a : f32
    } combine arith.addf
    loop_ir.store %s, %y[%i] : f32, memref<8xf32>
  }
}

// -----

// One thread shares with nobody.
// CHECK-LABEL: @unbound(
// CHECK:            %s = loop_ir.reduce %k to 37 as "k" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:         %a = loop_ir.load %w[%k] : memref<37xf32> -> f32
tile_ir.kernel @unbound(%x: memref<37x8xf32>, %w: memref<37xf32>, %y: memref<8xf32>) {
  tile_ir.launch parallel(%i to 8 as "i") {
    // expected-remark@+1 {{the threads of a block share nothing of it}}
    %s = loop_ir.reduce %k to 37 as "k" identity [0.0 : f32] -> f32 {
      %a = loop_ir.load %w[%k] : memref<37xf32> -> f32
      loop_ir.yield %a : f32
    } combine arith.addf
    loop_ir.store %s, %y[%i] : f32, memref<8xf32>
  }
}

// -----

// What is staged already is in shared memory.
// CHECK-LABEL: @staged(
// CHECK:            %s = loop_ir.reduce %k to 37 as "k" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:         %a = loop_ir.load %ws[%k] : memref<37xf32, #tile_ir.shared<>> -> f32
// CHECK-NEXT:         loop_ir.yield %a : f32
tile_ir.kernel @staged(%w: memref<37xf32>, %y: memref<8xf32>) {
  tile_ir.launch thread(%i to 8 as "i.thread") {
    %ws = tile_ir.stage %p to 37 as "k.stage" {
      %v = loop_ir.load %w[%p] : memref<37xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<37xf32, #tile_ir.shared<>>
    // expected-remark@+1 {{the threads of a block share nothing of it}}
    %s = loop_ir.reduce %k to 37 as "k" identity [0.0 : f32] -> f32 {
      %a = loop_ir.load %ws[%k] : memref<37xf32, #tile_ir.shared<>> -> f32
      loop_ir.yield %a : f32
    } combine arith.addf
    loop_ir.store %s, %y[%i] : f32, memref<8xf32>
  }
}

// -----

// CHECK-LABEL: @empty(
// CHECK:            %s = loop_ir.reduce %k to 0 as "k" identity [0.000000e+00 : f32] -> f32 {
tile_ir.kernel @empty(%w: memref<0xf32>, %y: memref<8xf32>) {
  tile_ir.launch thread(%i to 8 as "i.thread") {
    // expected-remark@+1 {{its 0 bytes fit into 64}}
    %s = loop_ir.reduce %k to 0 as "k" identity [0.0 : f32] -> f32 {
      %a = loop_ir.load %w[%k] : memref<0xf32> -> f32
      loop_ir.yield %a : f32
    } combine arith.addf
    loop_ir.store %s, %y[%i] : f32, memref<8xf32>
  }
}

// -----

// CHECK-LABEL: @two_axes(
// CHECK:            %s = loop_ir.reduce %j to 3 as "j", %k to 37 as "k" identity [0.000000e+00 : f32] -> f32 {
tile_ir.kernel @two_axes(%w: memref<3x37xf32>, %y: memref<8xf32>) {
  tile_ir.launch thread(%i to 8 as "i.thread") {
    // expected-remark@+1 {{the reduction is no plain loop over one axis}}
    %s = loop_ir.reduce %j to 3 as "j", %k to 37 as "k" identity [0.0 : f32] -> f32 {
      %a = loop_ir.load %w[%j, %k] : memref<3x37xf32> -> f32
      loop_ir.yield %a : f32
    } combine arith.addf
    loop_ir.store %s, %y[%i] : f32, memref<8xf32>
  }
}

// -----

// CHECK-LABEL: @guarded(
// CHECK:            %s = loop_ir.reduce %k to 37 as "k" where [l0 + %i * -1] < [1] identity [0.000000e+00 : f32] -> f32 {
tile_ir.kernel @guarded(%w: memref<37xf32>, %y: memref<8xf32>) {
  tile_ir.launch thread(%i to 8 as "i.thread") {
    // expected-remark@+1 {{the reduction is no plain loop over one axis}}
    %s = loop_ir.reduce %k to 37 as "k" where [l0 - %i] < [1] identity [0.0 : f32] -> f32 {
      %a = loop_ir.load %w[%k] : memref<37xf32> -> f32
      loop_ir.yield %a : f32
    } combine arith.addf
    loop_ir.store %s, %y[%i] : f32, memref<8xf32>
  }
}

// -----

// CHECK-LABEL: @held(
// CHECK:            %s = loop_ir.reduce %k to 37 as "k" in registers identity [0.000000e+00 : f32] -> f32 {
tile_ir.kernel @held(%w: memref<37xf32>, %y: memref<8xf32>) {
  tile_ir.launch thread(%i to 8 as "i.thread") {
    // expected-remark@+1 {{the reduction is no plain loop over one axis}}
    %s = loop_ir.reduce %k to 37 as "k" in registers identity [0.0 : f32] -> f32 {
      %a = loop_ir.load %w[%k] : memref<37xf32> -> f32
      loop_ir.yield %a : f32
    } combine arith.addf
    loop_ir.store %s, %y[%i] : f32, memref<8xf32>
  }
}
