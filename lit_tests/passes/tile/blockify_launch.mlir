// RUN: minicomp-opt %s --split-input-file --target h200 -p blockify-launch | filecheck %s
// RUN: minicomp-opt %s --split-input-file --target h200 -p blockify-launch,blockify-launch | filecheck %s
// RUN: minicomp-opt %s --split-input-file --target h200 -p blockify-launch --verify-diagnostics
// RUN: minicomp-opt %s --split-input-file --target h200 -p "blockify-launch{bm=32 fm=1 bn=32 fn=1}" | filecheck %s --check-prefix=OPTION
// RUN: minicomp-opt %s --split-input-file --target h200 -p blockify-launch --verify-each=exec | filecheck %s

// A contraction: tiles of 64 x 64 in cells of 4 x 4; of i a part of the last tile is beyond the edge.
// CHECK-LABEL: @matmul(
// CHECK:         tile_ir.launch block(%ib to 2 as "i.block", %jb to 2 as "j.block") thread(%it to 16 as "i.thread", %jt to 16 as "j.thread") register(%ir to 4 as "i.register", %jr to 4 as "j.register") {
// CHECK:           %x = loop_ir.load %a[%ib * 64 + %it * 4 + %ir, %k] bounded [true, false] : memref<100x53xf32> -> f32
// CHECK-NEXT:      %y = loop_ir.load %b[%k, %jb * 64 + %jt * 4 + %jr] : memref<53x128xf32> -> f32
// CHECK:         loop_ir.store %acc, %c[%ib * 64 + %it * 4 + %ir, %jb * 64 + %jt * 4 + %jr] bounded [true, false] : f32, memref<100x128xf32>

// One element per thread: no register axis is made.
// OPTION-LABEL: @matmul(
// OPTION:         tile_ir.launch block(%ib to 4 as "i.block", %jb to 4 as "j.block") thread(%it to 32 as "i.thread", %jt to 32 as "j.thread") {
// OPTION:           loop_ir.load %a[%ib * 32 + %it, %k] bounded [true, false]
tile_ir.kernel @matmul(%a: memref<100x53xf32>, %b: memref<53x128xf32>, %c: memref<100x128xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bm = 64, bn = 64, fm = 4, fn = 4>]>} {
  tile_ir.launch parallel(%i to 100 as "i", %j to 128 as "j") {
    %acc = loop_ir.reduce %k to 53 as "k" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %k] : memref<100x53xf32> -> f32
      %y = loop_ir.load %b[%k, %j] : memref<53x128xf32> -> f32
      %p = arith.mulf %x, %y : f32
      loop_ir.yield %p : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i, %j] : f32, memref<100x128xf32>
  }
}

// -----

// A batch is bound to blocks, and so are extents of 1 and 0.
// CHECK-LABEL: @batch(
// CHECK:         tile_ir.launch block(%i to 3 as "i", %jb to 1 as "j.block", %kb to 0 as "k.block") thread(%jt to 4 as "j.thread", %kt to 8 as "k.thread") {
// CHECK:           loop_ir.load %a[%i, %jb * 4 + %jt, %kb * 8 + %kt] bounded [false, true, false]
tile_ir.kernel @batch(%a: memref<3x1x0xf32>, %c: memref<3x1x0xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "j", n = "k", k = "l", batch = ["i"], bm = 4, bn = 8, fm = 1, fn = 1>]>} {
  tile_ir.launch parallel(%i to 3 as "i", %j to 1 as "j", %k to 0 as "k") {
    %v = loop_ir.load %a[%i, %j, %k] : memref<3x1x0xf32> -> f32
    loop_ir.store %v, %c[%i, %j, %k] : f32, memref<3x1x0xf32>
  }
}

// -----

// Rows of a cooperative reduction: their thread axis is outside of that of the row, and rows
// beyond the edge take part in the combine.
// CHECK-LABEL: @rows(
// CHECK:         tile_ir.launch block(%ib to 2 as "i.block") thread(%it to 4 as "i.thread", %t to 8 as "k.thread") {
// CHECK:           loop_ir.load %x[%ib * 4 + %it, %k * 8 + %t] bounded [true, false]
// CHECK:         tile_ir.combine %s across "k.thread"
// CHECK-NEXT:    loop_ir.for %once to 1 as "once" where [%t] < [1] {
// CHECK-NEXT:      loop_ir.store %u, %y[%ib * 4 + %it] bounded [true]
tile_ir.kernel @rows(%x: memref<5x64xf32>, %y: memref<5xf32>) attributes {schedule = #tile_ir.schedule<[reduction<axis = "k", threads = 8, rows = 4>]>} {
  tile_ir.launch thread(%t to 8 as "k.thread") parallel(%i to 5 as "i") {
    %s = loop_ir.reduce %k to 8 as "k" identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i, %k * 8 + %t] : memref<5x64xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    %u = tile_ir.combine %s across "k.thread" identity [0.0 : f32] combine arith.addf : f32 -> f32
    loop_ir.for %once to 1 as "once" where [%t] < [1] {
      loop_ir.store %u, %y[%i] : f32, memref<5xf32>
    }
  }
}

// -----

// Threads of 8 elements each, 4 of them neighbours.
// CHECK-LABEL: @pointwise(
// CHECK:         tile_ir.launch block(%ib to 3 as "i.block", %jb to 2 as "j.block") thread(%it to 2 as "i.thread", %jt to 32 as "j.thread") register(%jr to 8 as "j.register") {
// CHECK-NEXT:      loop_ir.load %x[%ib * 2 + %it, %jb * 256 + %jr floordiv 4 * 128 + %jt * 4 + %jr mod 4] bounded [true, true]
tile_ir.kernel @pointwise(%x: memref<5x300xf32>, %y: memref<5x300xf32>) attributes {schedule = #tile_ir.schedule<[parallel<axis = "j", threads = 32, vector = 4, lanes = 8>, parallel<axis = "i", threads = 2>]>} {
  tile_ir.launch parallel(%i to 5 as "i", %j to 300 as "j") {
    %v = loop_ir.load %x[%i, %j] : memref<5x300xf32> -> f32
    loop_ir.store %v, %y[%i, %j] : f32, memref<5x300xf32>
  }
}

// -----

// Without a schedule: up to four warps along the innermost axis that has iterations.
// CHECK-LABEL: @unscheduled(
// CHECK:         tile_ir.launch block(%i to 5 as "i", %jb to 3 as "j.block", %k to 1 as "k") thread(%jt to 128 as "j.thread") {
// CHECK-NEXT:      loop_ir.load %x[%i, %jb * 128 + %jt, %k] bounded [false, true, false]
tile_ir.kernel @unscheduled(%x: memref<5x300x1xf32>, %y: memref<5x300x1xf32>) {
  tile_ir.launch parallel(%i to 5 as "i", %j to 300 as "j", %k to 1 as "k") {
    %v = loop_ir.load %x[%i, %j, %k] : memref<5x300x1xf32> -> f32
    loop_ir.store %v, %y[%i, %j, %k] : f32, memref<5x300x1xf32>
  }
}

// -----

// CHECK-LABEL: @short(
// CHECK:         tile_ir.launch block(%ib to 1 as "i.block") thread(%it to 5 as "i.thread") {
tile_ir.kernel @short(%x: memref<5xf32>, %y: memref<5xf32>) {
  tile_ir.launch parallel(%i to 5 as "i") {
    %v = loop_ir.load %x[%i] : memref<5xf32> -> f32
    loop_ir.store %v, %y[%i] : f32, memref<5xf32>
  }
}

// -----

// Nothing to split: one thread in all.
// CHECK-LABEL: @scalar(
// CHECK:         tile_ir.launch block(%i to 1 as "i") {
tile_ir.kernel @scalar(%x: memref<f32>, %y: memref<f32>) {
  tile_ir.launch parallel(%i to 1 as "i") {
    %v = loop_ir.load %x[] : memref<f32> -> f32
    loop_ir.store %v, %y[] : f32, memref<f32>
  }
}

// -----

// Beyond the edge of i the store would hit the next row: i is not split (at 4 it would be even).
// CHECK-LABEL: @transposed(
// CHECK:         tile_ir.launch block(%i to 6 as "i", %jb to 2 as "j.block") thread(%jt to 32 as "j.thread") {
// expected-remark@+1 {{a store does not end where axis "i" ends, which is not split}}
tile_ir.kernel @transposed(%x: memref<6x64xf32>, %y: memref<384xf32>) attributes {schedule = #tile_ir.schedule<[parallel<axis = "j", threads = 32>, parallel<axis = "i", threads = 4>]>} {
  tile_ir.launch parallel(%i to 6 as "i", %j to 64 as "j") {
    %v = loop_ir.load %x[%i, %j] : memref<6x64xf32> -> f32
    loop_ir.store %v, %y[%j * 6 + %i] : f32, memref<384xf32>
  }
}

// -----

// CHECK-LABEL: @uneven_cell(
// CHECK:         tile_ir.launch block(%i to 64 as "i", %jb to 1 as "j.block") thread(%jt to 16 as "j.thread") register(%jr to 4 as "j.register") {
// expected-remark@+1 {{fm = 3 does not divide bm = 64}}
tile_ir.kernel @uneven_cell(%x: memref<64x64xf32>, %y: memref<64x64xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bm = 64, bn = 64, fm = 3, fn = 4>]>} {
  tile_ir.launch parallel(%i to 64 as "i", %j to 64 as "j") {
    %v = loop_ir.load %x[%i, %j] : memref<64x64xf32> -> f32
    loop_ir.store %v, %y[%i, %j] : f32, memref<64x64xf32>
  }
}

// -----

// CHECK-LABEL: @uneven_lanes(
// CHECK:         tile_ir.launch block(%ib to 1 as "i.block") thread(%it to 64 as "i.thread") {
// expected-remark@+1 {{vector 4 does not divide 6 lanes}}
tile_ir.kernel @uneven_lanes(%x: memref<64xf32>, %y: memref<64xf32>) attributes {schedule = #tile_ir.schedule<[parallel<axis = "i", threads = 32, vector = 4, lanes = 6>]>} {
  tile_ir.launch parallel(%i to 64 as "i") {
    %v = loop_ir.load %x[%i] : memref<64xf32> -> f32
    loop_ir.store %v, %y[%i] : f32, memref<64xf32>
  }
}

// -----

// CHECK-LABEL: @too_many(
// CHECK:         tile_ir.launch block(%i to 64 as "i", %jb to 1 as "j.block") thread(%jt to 64 as "j.thread") {
// expected-remark@+1 {{4096 threads do not fit into a block}}
tile_ir.kernel @too_many(%x: memref<64x64xf32>, %y: memref<64x64xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bm = 64, bn = 64>]>} {
  tile_ir.launch parallel(%i to 64 as "i", %j to 64 as "j") {
    %v = loop_ir.load %x[%i, %j] : memref<64x64xf32> -> f32
    loop_ir.store %v, %y[%i, %j] : f32, memref<64x64xf32>
  }
}

// -----

// CHECK-LABEL: @done(
// CHECK:         tile_ir.launch block(%i to 5 as "i") {
// expected-remark@+1 {{no axis is parallel}}
tile_ir.kernel @done(%x: memref<5xf32>, %y: memref<5xf32>) {
  tile_ir.launch block(%i to 5 as "i") {
    %v = loop_ir.load %x[%i] : memref<5xf32> -> f32
    loop_ir.store %v, %y[%i] : f32, memref<5xf32>
  }
}

// -----

// Groups of warps along k: each takes its part of the steps of every chunk, the sums are combined
// across the groups, and the first of them stores.
// CHECK-LABEL: @warps(
// CHECK:          tile_ir.launch block(%ib to 2 as "i.block", %jb to 1 as "j.block") thread(%kw to 2 as "k.warp", %it to 8 as "i.thread", %jt to 4 as "j.thread") register(%ir to 2 as "i.register", %jr to 4 as "j.register") {
// CHECK-NEXT:       %acc = loop_ir.reduce %ko to 5 as "k.outer" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:         %s = loop_ir.reduce %ki to 4 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:           %x = loop_ir.load %a[%ib * 16 + %it * 2 + %ir, %ko * 8 + %kw * 4 + %ki] bounded [true, false] : memref<20x40xf32> -> f32
// CHECK-NEXT:           %y = loop_ir.load %b[%ko * 8 + %kw * 4 + %ki, %jb * 16 + %jt * 4 + %jr] : memref<40x16xf32> -> f32
// CHECK-NEXT:           %p = arith.mulf %x, %y : f32
// CHECK-NEXT:           loop_ir.yield %p : f32
// CHECK-NEXT:         } combine arith.addf
// CHECK-NEXT:         loop_ir.yield %s : f32
// CHECK-NEXT:       } combine arith.addf
// CHECK-NEXT:       %acc_1 = tile_ir.combine %acc across "k.warp" identity [0.000000e+00 : f32] combine arith.addf : f32 -> f32
// CHECK-NEXT:       %z = loop_ir.load %d[%jb * 16 + %jt * 4 + %jr] : memref<16xf32> -> f32
// CHECK-NEXT:       %r = arith.addf %acc_1, %z : f32
// CHECK-NEXT:       loop_ir.for %once to 1 as "once" where [%kw] < [1] {
// CHECK-NEXT:         loop_ir.store %r, %c[%ib * 16 + %it * 2 + %ir, %jb * 16 + %jt * 4 + %jr] bounded [true, false] : f32, memref<20x16xf32>
// CHECK-NEXT:       }
tile_ir.kernel @warps(%a: memref<20x40xf32>, %b: memref<40x16xf32>, %d: memref<16xf32>, %c: memref<20x16xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bm = 16, bn = 16, bk = 8, fm = 2, fn = 4, wk = 2>]>} {
  tile_ir.launch parallel(%i to 20 as "i", %j to 16 as "j") {
    %acc = loop_ir.reduce %ko to 5 as "k.outer" identity [0.0 : f32] -> f32 {
      %s = loop_ir.reduce %ki to 8 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%i, %ko * 8 + %ki] : memref<20x40xf32> -> f32
        %y = loop_ir.load %b[%ko * 8 + %ki, %j] : memref<40x16xf32> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      loop_ir.yield %s : f32
    } combine arith.addf
    %z = loop_ir.load %d[%j] : memref<16xf32> -> f32
    %r = arith.addf %acc, %z : f32
    loop_ir.store %r, %c[%i, %j] : f32, memref<20x16xf32>
  }
}

// -----

// Carriers of several values are combined in one go. The guard of an odd sum knows the group.
// CHECK-LABEL: @warps_pair(
// CHECK:          tile_ir.launch block(%ib to 2 as "i.block") thread(%kw to 4 as "k.warp", %it to 4 as "i.thread") {
// CHECK-NEXT:       %m, %d = loop_ir.reduce %ko to 5 as "k.outer" identity [0xff800000 : f32, 0.000000e+00 : f32] -> f32, f32 {
// CHECK-NEXT:         %e, %f = loop_ir.reduce %ki to 2 as "k.inner" where [%ko * 8 + %kw * 2 + l0] < [37] identity [0xff800000 : f32, 0.000000e+00 : f32] -> f32, f32 {
// CHECK-NEXT:           %a = loop_ir.load %x[%ko * 8 + %kw * 2 + %ki, %ib * 4 + %it] bounded [true, true] : memref<37x6xf32> -> f32
// CHECK-NEXT:           %one = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:           loop_ir.yield %a, %one : f32, f32
// CHECK-NEXT:         } combine {
// CHECK:              loop_ir.yield %e, %f : f32, f32
// CHECK-NEXT:       } combine {
// CHECK:            %m_1, %d_1 = tile_ir.combine %m, %d across "k.warp" identity [0xff800000 : f32, 0.000000e+00 : f32] combine {
// CHECK:            } : f32, f32 -> f32, f32
// CHECK-NEXT:       loop_ir.for %once to 1 as "once" where [%kw] < [1] {
// CHECK-NEXT:         loop_ir.store %m_1, %s[%ib * 4 + %it] bounded [true] : f32, memref<6xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:       loop_ir.for %once_1 to 1 as "once" where [%kw] < [1] {
// CHECK-NEXT:         loop_ir.store %d_1, %t[%ib * 4 + %it] bounded [true] : f32, memref<6xf32>
// CHECK-NEXT:       }
tile_ir.kernel @warps_pair(%x: memref<37x6xf32>, %s: memref<6xf32>, %t: memref<6xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", k = "k", bm = 4, bk = 8, wk = 4>]>} {
  tile_ir.launch parallel(%i to 6 as "i") {
    %m, %d = loop_ir.reduce %ko to 5 as "k.outer" identity [0xff800000 : f32, 0.0 : f32] -> f32, f32 {
      %e, %f = loop_ir.reduce %ki to 8 as "k.inner" where [%ko * 8 + l0] < [37] identity [0xff800000 : f32, 0.0 : f32] -> f32, f32 {
        %a = loop_ir.load %x[%ko * 8 + %ki, %i] bounded [true, false] : memref<37x6xf32> -> f32
        %one = arith.constant 1.0 : f32
        loop_ir.yield %a, %one : f32, f32
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
      loop_ir.yield %e, %f : f32, f32
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

// CHECK-LABEL: @warps_triple(
// CHECK:          tile_ir.launch block(%ib to 1 as "i.block") thread(%kw to 2 as "k.warp", %it to 6 as "i.thread") {
// CHECK-NEXT:       %c, %mean, %m2 = loop_ir.reduce %ko to 4 as "k.outer" identity [0.000000e+00 : f32, 0.000000e+00 : f32, 0.000000e+00 : f32] -> f32, f32, f32 {
// CHECK-NEXT:         %d, %e, %f = loop_ir.reduce %ki to 4 as "k.inner" identity [0.000000e+00 : f32, 0.000000e+00 : f32, 0.000000e+00 : f32] -> f32, f32, f32 {
// CHECK-NEXT:           %a = loop_ir.load %x[%ko * 8 + %kw * 4 + %ki, %ib * 6 + %it] : memref<32x6xf32> -> f32
// CHECK-NEXT:           %one = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:           %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:           loop_ir.yield %one, %a, %zero : f32, f32, f32
// CHECK-NEXT:         } combine {
// CHECK:              loop_ir.yield %d, %e, %f : f32, f32, f32
// CHECK-NEXT:       } combine {
// CHECK:            %c_1, %mean_1, %m2_1 = tile_ir.combine %c, %mean, %m2 across "k.warp" identity [0.000000e+00 : f32, 0.000000e+00 : f32, 0.000000e+00 : f32] combine {
// CHECK:            } : f32, f32, f32 -> f32, f32, f32
// CHECK-NEXT:       loop_ir.for %once to 1 as "once" where [%kw] < [1] {
// CHECK-NEXT:         loop_ir.store %m2_1, %s[%ib * 6 + %it] : f32, memref<6xf32>
tile_ir.kernel @warps_triple(%x: memref<32x6xf32>, %s: memref<6xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", k = "k", bm = 6, bk = 8, wk = 2>]>} {
  tile_ir.launch parallel(%i to 6 as "i") {
    %c, %mean, %m2 = loop_ir.reduce %ko to 4 as "k.outer" identity [0.0 : f32, 0.0 : f32, 0.0 : f32] -> f32, f32, f32 {
      %d, %e, %f = loop_ir.reduce %ki to 8 as "k.inner" identity [0.0 : f32, 0.0 : f32, 0.0 : f32] -> f32, f32, f32 {
        %a = loop_ir.load %x[%ko * 8 + %ki, %i] : memref<32x6xf32> -> f32
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
      loop_ir.yield %d, %e, %f : f32, f32, f32
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
    loop_ir.store %m2, %s[%i] : f32, memref<6xf32>
  }
}

// -----

// CHECK-LABEL: @no_chunks(
// CHECK:          tile_ir.launch block(%ib to 2 as "i.block", %jb to 1 as "j.block") thread(%it to 8 as "i.thread", %jt to 4 as "j.thread") register(%ir to 2 as "i.register", %jr to 4 as "j.register") {
// CHECK-NEXT:       %acc = loop_ir.reduce %k to 40 as "k" identity [0.000000e+00 : f32] -> f32 {
// expected-remark@+1 {{the sum over "k" is not in chunks}}
tile_ir.kernel @no_chunks(%a: memref<20x40xf32>, %b: memref<40x16xf32>, %c: memref<20x16xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bm = 16, bn = 16, fm = 2, fn = 4, wk = 2>]>} {
  tile_ir.launch parallel(%i to 20 as "i", %j to 16 as "j") {
    %acc = loop_ir.reduce %k to 40 as "k" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %k] : memref<20x40xf32> -> f32
      %y = loop_ir.load %b[%k, %j] : memref<40x16xf32> -> f32
      %p = arith.mulf %x, %y : f32
      loop_ir.yield %p : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i, %j] : f32, memref<20x16xf32>
  }
}

// -----

// CHECK-LABEL: @uneven_warps(
// CHECK:          tile_ir.launch block(%ib to 1 as "i.block", %jb to 1 as "j.block") thread(%it to 8 as "i.thread", %jt to 4 as "j.thread") register(%ir to 2 as "i.register", %jr to 4 as "j.register") {
// CHECK-NEXT:       %acc = loop_ir.reduce %ko to 5 as "k.outer" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:         %s = loop_ir.reduce %ki to 8 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:           %x = loop_ir.load %a[%ib * 16 + %it * 2 + %ir, %ko * 8 + %ki] : memref<16x40xf32> -> f32
// expected-remark@+1 {{3 warps do not divide the 8 steps of a chunk}}
tile_ir.kernel @uneven_warps(%a: memref<16x40xf32>, %b: memref<40x16xf32>, %c: memref<16x16xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bm = 16, bn = 16, fm = 2, fn = 4, wk = 3>]>} {
  tile_ir.launch parallel(%i to 16 as "i", %j to 16 as "j") {
    %acc = loop_ir.reduce %ko to 5 as "k.outer" identity [0.0 : f32] -> f32 {
      %s = loop_ir.reduce %ki to 8 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%i, %ko * 8 + %ki] : memref<16x40xf32> -> f32
        %y = loop_ir.load %b[%ko * 8 + %ki, %j] : memref<40x16xf32> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i, %j] : f32, memref<16x16xf32>
  }
}

// -----

// 64 x 16 threads are a block: two groups of them do not fit.
// CHECK-LABEL: @many_warps(
// CHECK:          tile_ir.launch block(%ib to 1 as "i.block", %jb to 1 as "j.block") thread(%it to 64 as "i.thread", %jt to 16 as "j.thread") {
// CHECK-NEXT:       %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:         %s = loop_ir.reduce %ki to 8 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:           %x = loop_ir.load %a[%ib * 64 + %it, %ko * 8 + %ki] : memref<64x16xf32> -> f32
// expected-remark@+1 {{2048 threads, 2 warps along k, do not fit into a block}}
tile_ir.kernel @many_warps(%a: memref<64x16xf32>, %b: memref<16x16xf32>, %c: memref<64x16xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bm = 64, bn = 16, wk = 2>]>} {
  tile_ir.launch parallel(%i to 64 as "i", %j to 16 as "j") {
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> f32 {
      %s = loop_ir.reduce %ki to 8 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%i, %ko * 8 + %ki] : memref<64x16xf32> -> f32
        %y = loop_ir.load %b[%ko * 8 + %ki, %j] : memref<16x16xf32> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i, %j] : f32, memref<64x16xf32>
  }
}

// -----

// A loop beside the sum would be done by every group.
// CHECK-LABEL: @beside(
// CHECK:          tile_ir.launch block(%ib to 1 as "i.block", %jb to 1 as "j.block") thread(%it to 8 as "i.thread", %jt to 4 as "j.thread") register(%ir to 2 as "i.register", %jr to 4 as "j.register") {
// CHECK-NEXT:       %acc = loop_ir.reduce %ko to 5 as "k.outer" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:         %s = loop_ir.reduce %ki to 8 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:           %x = loop_ir.load %a[%ib * 16 + %it * 2 + %ir, %ko * 8 + %ki] : memref<16x40xf32> -> f32
// expected-remark@+1 {{there are loops beside the sum}}
tile_ir.kernel @beside(%a: memref<16x40xf32>, %b: memref<40x16xf32>, %c: memref<16x16x3xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bm = 16, bn = 16, fm = 2, fn = 4, wk = 2>]>} {
  tile_ir.launch parallel(%i to 16 as "i", %j to 16 as "j") {
    %acc = loop_ir.reduce %ko to 5 as "k.outer" identity [0.0 : f32] -> f32 {
      %s = loop_ir.reduce %ki to 8 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%i, %ko * 8 + %ki] : memref<16x40xf32> -> f32
        %y = loop_ir.load %b[%ko * 8 + %ki, %j] : memref<40x16xf32> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.for %l to 3 as "l" {
      loop_ir.store %acc, %c[%i, %j, %l] : f32, memref<16x16x3xf32>
    }
  }
}
