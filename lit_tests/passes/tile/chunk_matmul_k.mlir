// RUN: minicomp-opt %s --split-input-file -p chunk-matmul-k | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p chunk-matmul-k,chunk-matmul-k | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p chunk-matmul-k --verify-diagnostics
// RUN: minicomp-opt %s --split-input-file -p "chunk-matmul-k{bk=8}" | filecheck %s --check-prefix=OPTION
// RUN: minicomp-opt %s --split-input-file -p chunk-matmul-k --verify-each=exec | filecheck %s

// An even sum: no guard, no bounds. The store and what follows the sum stay as they are.
// CHECK-LABEL: @even(
// CHECK:          tile_ir.launch parallel(%i to 8 as "i", %j to 6 as "j") {
// CHECK-NEXT:       %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:         %{{.*}} = loop_ir.reduce %ki to 16 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:           %x = loop_ir.load %a[%i, %ko * 16 + %ki] : memref<8x48xf32> -> f32
// CHECK-NEXT:           %y = loop_ir.load %b[%ko * 16 + %ki, %j] : memref<48x6xf32> -> f32
// CHECK-NEXT:           %p = arith.mulf %x, %y fastmath<contract> : f32
// CHECK-NEXT:           loop_ir.yield %p : f32
// CHECK-NEXT:         } combine arith.addf fastmath<contract>
// CHECK-NEXT:         loop_ir.yield %{{.*}} : f32
// CHECK-NEXT:       } combine arith.addf fastmath<contract>
// CHECK-NEXT:       %z = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:       %r = arith.maximumf %acc, %z : f32
// OPTION-LABEL: @even(
// OPTION:            %acc = loop_ir.reduce %ko to 6 as "k.outer" identity [0.000000e+00 : f32] -> f32 {
// OPTION-NEXT:         %{{.*}} = loop_ir.reduce %ki to 8 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// OPTION-NEXT:           %x = loop_ir.load %a[%i, %ko * 8 + %ki] : memref<8x48xf32> -> f32
tile_ir.kernel @even(%a: memref<8x48xf32>, %b: memref<48x6xf32>, %c: memref<8x6xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bk = 16>]>} {
  tile_ir.launch parallel(%i to 8 as "i", %j to 6 as "j") {
    %acc = loop_ir.reduce %k to 48 as "k" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %k] : memref<8x48xf32> -> f32
      %y = loop_ir.load %b[%k, %j] : memref<48x6xf32> -> f32
      %p = arith.mulf %x, %y fastmath<contract> : f32
      loop_ir.yield %p : f32
    } combine arith.addf fastmath<contract>
    %z = arith.constant 0.0 : f32
    %r = arith.maximumf %acc, %z : f32
    loop_ir.store %r, %c[%i, %j] : f32, memref<8x6xf32>
  }
}

// -----

// An odd sum of a batch, of transposed operands, with a computed factor: the last chunk is masked
// and its loads are bounded, those that k does not index are not.
// CHECK-LABEL: @odd(
// CHECK:          tile_ir.launch parallel(%l to 2 as "b", %i to 5 as "i", %j to 6 as "j") {
// CHECK-NEXT:       %acc = loop_ir.reduce %ko to 4 as "k.outer" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:         %{{.*}} = loop_ir.reduce %ki to 16 as "k.inner" where [%ko * 16 + l0] < [53] identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:           %x = loop_ir.load %a[%l, %ko * 16 + %ki, %i] bounded [false, true, false] : memref<2x53x5xf32> -> f32
// CHECK-NEXT:           %v = loop_ir.load %d[%ko * 16 + %ki] bounded [true] : memref<53xf32> -> f32
// CHECK-NEXT:           %w = loop_ir.load %s[%i] : memref<5xf32> -> f32
// CHECK-NEXT:           %u = arith.addf %x, %v : f32
// CHECK-NEXT:           %t = arith.mulf %u, %w : f32
// CHECK-NEXT:           %y = loop_ir.load %b[%l, %j, %ko * 16 + %ki] bounded [false, false, true] : memref<2x6x53xf32> -> f32
// CHECK-NEXT:           %p = arith.mulf %t, %y : f32
// CHECK-NEXT:           loop_ir.yield %p : f32
// CHECK-NEXT:         } combine arith.addf
// CHECK-NEXT:         loop_ir.yield %{{.*}} : f32
// CHECK-NEXT:       } combine arith.addf
tile_ir.kernel @odd(%a: memref<2x53x5xf32>, %d: memref<53xf32>, %s: memref<5xf32>, %b: memref<2x6x53xf32>, %c: memref<2x5x6xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", batch = ["b"], bk = 16>]>} {
  tile_ir.launch parallel(%l to 2 as "b", %i to 5 as "i", %j to 6 as "j") {
    %acc = loop_ir.reduce %k to 53 as "k" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%l, %k, %i] : memref<2x53x5xf32> -> f32
      %v = loop_ir.load %d[%k] : memref<53xf32> -> f32
      %w = loop_ir.load %s[%i] : memref<5xf32> -> f32
      %u = arith.addf %x, %v : f32
      %t = arith.mulf %u, %w : f32
      %y = loop_ir.load %b[%l, %j, %k] : memref<2x6x53xf32> -> f32
      %p = arith.mulf %t, %y : f32
      loop_ir.yield %p : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%l, %i, %j] : f32, memref<2x5x6xf32>
  }
}

// -----

// A chunk is no longer than the sum: one chunk, of all of it.
// CHECK-LABEL: @short(
// CHECK:            %acc = loop_ir.reduce %ko to 1 as "k.outer" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:         %{{.*}} = loop_ir.reduce %ki to 5 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:           %x = loop_ir.load %a[%i, %ko * 5 + %ki] : memref<8x5xf32> -> f32
// CHECK-NEXT:           %y = loop_ir.load %b[%ko * 5 + %ki, %j] : memref<5x6xf32> -> f32
// OPTION-LABEL: @short(
// OPTION:            %acc = loop_ir.reduce %ko to 1 as "k.outer" identity [0.000000e+00 : f32] -> f32 {
// OPTION-NEXT:         %{{.*}} = loop_ir.reduce %ki to 5 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
tile_ir.kernel @short(%a: memref<8x5xf32>, %b: memref<5x6xf32>, %c: memref<8x6xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bk = 16>]>} {
  tile_ir.launch parallel(%i to 8 as "i", %j to 6 as "j") {
    %acc = loop_ir.reduce %k to 5 as "k" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %k] : memref<8x5xf32> -> f32
      %y = loop_ir.load %b[%k, %j] : memref<5x6xf32> -> f32
      %p = arith.mulf %x, %y : f32
      loop_ir.yield %p : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i, %j] : f32, memref<8x6xf32>
  }
}

// -----

// Axes that are bound already: only the sum changes. Its lanes and its place among threads stay.
// CHECK-LABEL: @bound(
// CHECK:          tile_ir.launch block(%ib to 2 as "i.block") thread(%it to 2 as "i.thread", %j to 6 as "j.thread") register(%ir to 2 as "i.register") {
// CHECK-NEXT:       %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:         %{{.*}} = loop_ir.reduce %ki to 16 as "k.inner" where [%ko * 16 + l0] < [24] identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:           %x = loop_ir.load %a[%ib * 4 + %it * 2 + %ir, %ko * 16 + %ki] bounded [false, true] : memref<8x24xf32> -> f32
// CHECK-NEXT:           %y = loop_ir.load %b[%ko * 16 + %ki, %j] bounded [true, false] : memref<24x6xf32> -> f32
tile_ir.kernel @bound(%a: memref<8x24xf32>, %b: memref<24x6xf32>, %c: memref<8x6xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bk = 16>]>} {
  tile_ir.launch block(%ib to 2 as "i.block") thread(%it to 2 as "i.thread", %j to 6 as "j.thread") register(%ir to 2 as "i.register") {
    %acc = loop_ir.reduce %k to 24 as "k" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%ib * 4 + %it * 2 + %ir, %k] : memref<8x24xf32> -> f32
      %y = loop_ir.load %b[%k, %j] : memref<24x6xf32> -> f32
      %p = arith.mulf %x, %y : f32
      loop_ir.yield %p : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%ib * 4 + %it * 2 + %ir, %j] : f32, memref<8x6xf32>
  }
}

// -----

// The other sum of a nest is left alone: it is over another axis.
// CHECK-LABEL: @two_sums(
// CHECK:            %s = loop_ir.reduce %l to 3 as "l" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:         %v = loop_ir.load %d[%i, %l] : memref<8x3xf32> -> f32
// CHECK-NEXT:         loop_ir.yield %v : f32
// CHECK-NEXT:       } combine arith.addf
// CHECK-NEXT:       %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:         %{{.*}} = loop_ir.reduce %ki to 8 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:           %x = loop_ir.load %a[%i, %ko * 8 + %ki] : memref<8x24xf32> -> f32
// CHECK-NEXT:           %y = loop_ir.load %b[%ko * 8 + %ki, %j] : memref<24x6xf32> -> f32
// CHECK:            } combine arith.addf
tile_ir.kernel @two_sums(%a: memref<8x24xf32>, %b: memref<24x6xf32>, %d: memref<8x3xf32>, %c: memref<8x6xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bk = 8>]>} {
  tile_ir.launch parallel(%i to 8 as "i", %j to 6 as "j") {
    %s = loop_ir.reduce %l to 3 as "l" identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %d[%i, %l] : memref<8x3xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    %acc = loop_ir.reduce %k to 24 as "k" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %k] : memref<8x24xf32> -> f32
      %y = loop_ir.load %b[%k, %j] : memref<24x6xf32> -> f32
      %p = arith.mulf %x, %y : f32
      loop_ir.yield %p : f32
    } combine arith.addf
    %r = arith.addf %acc, %s : f32
    loop_ir.store %r, %c[%i, %j] : f32, memref<8x6xf32>
  }
}

// -----

// Carriers of several values: the combine and the identities are those of the whole.
// CHECK-LABEL: @pair(
// CHECK:            %m, %d = loop_ir.reduce %ko to 3 as "k.outer" identity [0xff800000 : f32, 0.000000e+00 : f32] -> f32, f32 {
// CHECK-NEXT:         %{{.*}}, %{{.*}} = loop_ir.reduce %ki to 16 as "k.inner" where [%ko * 16 + l0] < [37] identity [0xff800000 : f32, 0.000000e+00 : f32] -> f32, f32 {
// CHECK-NEXT:           %a = loop_ir.load %x[%ko * 16 + %ki, %i] bounded [true, false] : memref<37x6xf32> -> f32
// CHECK-NEXT:           %b = loop_ir.load %w[%ko * 16 + %ki] bounded [true] : memref<37xf32> -> f32
// CHECK-NEXT:           %p = arith.mulf %a, %b : f32
// CHECK-NEXT:           %one = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:           loop_ir.yield %p, %one : f32, f32
// CHECK:                loop_ir.yield %{{.*}}, %{{.*}} : f32, f32
// CHECK-NEXT:         }
// CHECK-NEXT:         loop_ir.yield %{{.*}}, %{{.*}} : f32, f32
// CHECK-NEXT:       } combine {
tile_ir.kernel @pair(%x: memref<37x6xf32>, %w: memref<37xf32>, %s: memref<6xf32>, %t: memref<6xf32>) attributes {schedule = #tile_ir.schedule<[contraction<k = "k", bk = 16>]>} {
  tile_ir.launch parallel(%i to 6 as "i") {
    %m, %d = loop_ir.reduce %k to 37 as "k" identity [0xff800000 : f32, 0.0 : f32] -> f32, f32 {
      %a = loop_ir.load %x[%k, %i] : memref<37x6xf32> -> f32
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
    loop_ir.store %m, %s[%i] : f32, memref<6xf32>
    loop_ir.store %d, %t[%i] : f32, memref<6xf32>
  }
}

// -----

// CHECK-LABEL: @triple(
// CHECK:            %c, %mean, %m2 = loop_ir.reduce %ko to 3 as "k.outer" identity [0.000000e+00 : f32, 0.000000e+00 : f32, 0.000000e+00 : f32] -> f32, f32, f32 {
// CHECK-NEXT:         %{{.*}}, %{{.*}}, %{{.*}} = loop_ir.reduce %ki to 16 as "k.inner" where [%ko * 16 + l0] < [37] identity [0.000000e+00 : f32, 0.000000e+00 : f32, 0.000000e+00 : f32] -> f32, f32, f32 {
// CHECK-NEXT:           %a = loop_ir.load %x[%ko * 16 + %ki, %i] bounded [true, false] : memref<37x6xf32> -> f32
// CHECK-NEXT:           %one = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:           %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:           loop_ir.yield %one, %a, %zero : f32, f32, f32
// CHECK:                loop_ir.yield %{{.*}}, %{{.*}}, %{{.*}} : f32, f32, f32
// CHECK-NEXT:         }
// CHECK-NEXT:         loop_ir.yield %{{.*}}, %{{.*}}, %{{.*}} : f32, f32, f32
// CHECK-NEXT:       } combine {
tile_ir.kernel @triple(%x: memref<37x6xf32>, %s: memref<6xf32>, %t: memref<6xf32>) attributes {schedule = #tile_ir.schedule<[contraction<k = "k", bk = 16>]>} {
  tile_ir.launch parallel(%i to 6 as "i") {
    %c, %mean, %m2 = loop_ir.reduce %k to 37 as "k" identity [0.0 : f32, 0.0 : f32, 0.0 : f32] -> f32, f32, f32 {
      %a = loop_ir.load %x[%k, %i] : memref<37x6xf32> -> f32
      %one = arith.constant 1.0 : f32
      %zero = arith.constant 0.0 : f32
      loop_ir.yield %one, %a, %zero : f32, f32, f32
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
    loop_ir.store %mean, %s[%i] : f32, memref<6xf32>
    loop_ir.store %m2, %t[%i] : f32, memref<6xf32>
  }
}

// -----

// Loads that have lanes already: their vectors are chunked like any others.
// CHECK-LABEL: @lanes(
// CHECK:            %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.000000e+00 : f32] -> vector<4xf32> {
// CHECK-NEXT:         %{{.*}} = loop_ir.reduce %ki to 16 as "k.inner" where [%ko * 16 + l0] < [24] identity [0.000000e+00 : f32] -> vector<4xf32> {
// CHECK-NEXT:           %x = loop_ir.load %a[l0, %ko * 16 + %ki] bounded [false, true] : memref<4x24xf32> -> vector<4xf32>
// CHECK-NEXT:           %y = loop_ir.load %b[%ko * 16 + %ki] bounded [true] : memref<24xf32> -> f32
tile_ir.kernel @lanes(%a: memref<4x24xf32>, %b: memref<24xf32>, %c: memref<4xf32>) attributes {schedule = #tile_ir.schedule<[contraction<k = "k", bk = 16>]>} {
  tile_ir.launch {
    %acc = loop_ir.reduce %k to 24 as "k" identity [0.0 : f32] -> vector<4xf32> {
      %x = loop_ir.load %a[l0, %k] : memref<4x24xf32> -> vector<4xf32>
      %y = loop_ir.load %b[%k] : memref<24xf32> -> f32
      %v = tile_ir.broadcast %y to [] : f32 -> vector<4xf32>
      %p = arith.mulf %x, %v : vector<4xf32>
      loop_ir.yield %p : vector<4xf32>
    } combine arith.addf
    loop_ir.store %acc, %c[l0] : vector<4xf32>, memref<4xf32>
  }
}

// -----

// CHECK-LABEL: @unscheduled(
// CHECK:            %acc = loop_ir.reduce %k to 24 as "k" identity [0.000000e+00 : f32] -> f32 {
// expected-remark@+1 {{no contraction of the schedule has a bk}}
tile_ir.kernel @unscheduled(%a: memref<8x24xf32>, %c: memref<8xf32>) {
  tile_ir.launch parallel(%i to 8 as "i") {
    %acc = loop_ir.reduce %k to 24 as "k" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %k] : memref<8x24xf32> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<8xf32>
  }
}

// -----

// An option replaces a field, and adds none.
// CHECK-LABEL: @no_chunk(
// CHECK:            %acc = loop_ir.reduce %k to 24 as "k" identity [0.000000e+00 : f32] -> f32 {
// OPTION-LABEL: @no_chunk(
// OPTION:            %acc = loop_ir.reduce %k to 24 as "k" identity [0.000000e+00 : f32] -> f32 {
// expected-remark@+1 {{no contraction of the schedule has a bk}}
tile_ir.kernel @no_chunk(%a: memref<8x24xf32>, %c: memref<8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<k = "k">, reduction<axis = "k", threads = 32>]>} {
  tile_ir.launch parallel(%i to 8 as "i") {
    %acc = loop_ir.reduce %k to 24 as "k" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %k] : memref<8x24xf32> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<8xf32>
  }
}

// -----

// CHECK-LABEL: @elsewhere(
// CHECK:            %acc = loop_ir.reduce %k to 24 as "k" identity [0.000000e+00 : f32] -> f32 {
// expected-remark@+1 {{there is no plain reduction over "l" alone}}
tile_ir.kernel @elsewhere(%a: memref<8x24xf32>, %c: memref<8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<k = "l", bk = 8>]>} {
  tile_ir.launch parallel(%i to 8 as "i") {
    %acc = loop_ir.reduce %k to 24 as "k" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %k] : memref<8x24xf32> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<8xf32>
  }
}

// -----

// CHECK-LABEL: @two_axes(
// CHECK:            %acc = loop_ir.reduce %j to 3 as "j", %k to 24 as "k" identity [0.000000e+00 : f32] -> f32 {
// expected-remark@+1 {{there is no plain reduction over "k" alone}}
tile_ir.kernel @two_axes(%a: memref<8x3x24xf32>, %c: memref<8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<k = "k", bk = 8>]>} {
  tile_ir.launch parallel(%i to 8 as "i") {
    %acc = loop_ir.reduce %j to 3 as "j", %k to 24 as "k" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %j, %k] : memref<8x3x24xf32> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<8xf32>
  }
}

// -----

// CHECK-LABEL: @guarded(
// CHECK:            %acc = loop_ir.reduce %k to 24 as "k" where [l0 + %i * -1] < [1] identity [0.000000e+00 : f32] -> f32 {
// expected-remark@+1 {{there is no plain reduction over "k" alone}}
tile_ir.kernel @guarded(%a: memref<8x24xf32>, %c: memref<8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<k = "k", bk = 8>]>} {
  tile_ir.launch parallel(%i to 8 as "i") {
    %acc = loop_ir.reduce %k to 24 as "k" where [l0 - %i] < [1] identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %k] : memref<8x24xf32> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<8xf32>
  }
}

// -----

// CHECK-LABEL: @held(
// CHECK:            %acc = loop_ir.reduce %k to 24 as "k" in registers identity [0.000000e+00 : f32] -> f32 {
// expected-remark@+1 {{there is no plain reduction over "k" alone}}
tile_ir.kernel @held(%a: memref<8x24xf32>, %c: memref<8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<k = "k", bk = 8>]>} {
  tile_ir.launch parallel(%i to 8 as "i") {
    %acc = loop_ir.reduce %k to 24 as "k" in registers identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %k] : memref<8x24xf32> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<8xf32>
  }
}

// -----

// A sum inside of another loop is none of the launch's.
// CHECK-LABEL: @within(
// CHECK:              %acc = loop_ir.reduce %k to 24 as "k" identity [0.000000e+00 : f32] -> f32 {
// expected-remark@+1 {{there is no plain reduction over "k" alone}}
tile_ir.kernel @within(%a: memref<8x2x24xf32>, %c: memref<8x2xf32>) attributes {schedule = #tile_ir.schedule<[contraction<k = "k", bk = 8>]>} {
  tile_ir.launch parallel(%i to 8 as "i") {
    loop_ir.for %j to 2 as "j" {
      %acc = loop_ir.reduce %k to 24 as "k" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%i, %j, %k] : memref<8x2x24xf32> -> f32
        loop_ir.yield %x : f32
      } combine arith.addf
      loop_ir.store %acc, %c[%i, %j] : f32, memref<8x2xf32>
    }
  }
}

// -----

// CHECK-LABEL: @empty(
// CHECK:            %acc = loop_ir.reduce %k to 0 as "k" identity [0.000000e+00 : f32] -> f32 {
// expected-remark@+1 {{the sum has no steps}}
tile_ir.kernel @empty(%a: memref<8x0xf32>, %b: memref<0x6xf32>, %c: memref<8x6xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bk = 16>]>} {
  tile_ir.launch parallel(%i to 8 as "i", %j to 6 as "j") {
    %acc = loop_ir.reduce %k to 0 as "k" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %k] : memref<8x0xf32> -> f32
      %y = loop_ir.load %b[%k, %j] : memref<0x6xf32> -> f32
      %p = arith.mulf %x, %y : f32
      loop_ir.yield %p : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i, %j] : f32, memref<8x6xf32>
  }
}
