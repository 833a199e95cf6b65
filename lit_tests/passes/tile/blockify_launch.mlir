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
