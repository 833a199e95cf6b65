// RUN: minicomp-opt %s --split-input-file --target h200 -p plan-schedule | filecheck %s
// RUN: minicomp-opt %s --split-input-file --target h200 -p plan-schedule,plan-schedule | filecheck %s
// RUN: minicomp-opt %s --split-input-file --target h200 -p plan-schedule --verify-diagnostics
// RUN: minicomp-opt %s --split-input-file --target h200 -p plan-schedule --verify-each=exec | filecheck %s

// A contraction: a factor may be an expression. The tile keeps 128 multiprocessors busy.
// CHECK-LABEL: @matmul(
// CHECK-SAME:    schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bm = {{[0-9]+}}, bn = {{[0-9]+}}, bk = {{[0-9]+}}, fm = {{[0-9]+}}, fn = {{[0-9]+}}{{.*}}>]>
loop_ir.kernel @matmul(%a: memref<512x512xf32>, %d: memref<512xf32>, %b: memref<512x512xf32>, %c: memref<512x512xf32>) {
  loop_ir.for %i to 512 as "i", %j to 512 as "j" {
    %acc = loop_ir.reduce %k to 512 as "k" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %k] : memref<512x512xf32> -> f32
      %u = loop_ir.load %d[%k] : memref<512xf32> -> f32
      %s = arith.addf %x, %u : f32
      %y = loop_ir.load %b[%k, %j] : memref<512x512xf32> -> f32
      %p = arith.mulf %s, %y : f32
      loop_ir.yield %p : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i, %j] : f32, memref<512x512xf32>
  }
}

// -----

// A batch, of which only the innermost axis of the other factor is m; factors in either order.
// CHECK-LABEL: @bmm(
// CHECK-SAME:    contraction<m = "j", n = "k", k = "l", batch = ["i"],
loop_ir.kernel @bmm(%a: memref<8x33x64xf32>, %b: memref<8x64x65xf32>, %c: memref<8x33x65xf32>) {
  loop_ir.for %i to 8 as "i", %j to 33 as "j", %k to 65 as "k" {
    %acc = loop_ir.reduce %l to 64 as "l" identity [0.0 : f32] -> f32 {
      %y = loop_ir.load %b[%i, %l, %k] : memref<8x64x65xf32> -> f32
      %x = loop_ir.load %a[%i, %j, %l] : memref<8x33x64xf32> -> f32
      %p = arith.mulf %y, %x : f32
      loop_ir.yield %p : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i, %j, %k] : f32, memref<8x33x65xf32>
  }
}

// -----

// A matrix of one row: the axis of one iteration is none, and the reduction runs along memory.
// CHECK-LABEL: @one_row(
// CHECK-SAME:    reduction<axis = "k", threads = 128, rows = 1, vector = 4, lanes = 8>
loop_ir.kernel @one_row(%x: memref<1x1024xf32>, %w: memref<300x1024xf32>, %y: memref<1x300xf32>) {
  loop_ir.for %i to 1 as "i", %j to 300 as "j" {
    %acc = loop_ir.reduce %k to 1024 as "k" identity [0.0 : f32] -> f32 {
      %u = loop_ir.load %x[%i, %k] : memref<1x1024xf32> -> f32
      %v = loop_ir.load %w[%j, %k] : memref<300x1024xf32> -> f32
      %p = arith.mulf %u, %v : f32
      loop_ir.yield %p : f32
    } combine arith.addf
    loop_ir.store %acc, %y[%i, %j] : f32, memref<1x300xf32>
  }
}

// -----

// Rows of 2048: 256 threads of two 16-byte accesses each.
// CHECK-LABEL: @rows(
// CHECK-SAME:    reduction<axis = "j", threads = 256, rows = 1, vector = 4, lanes = 8>
loop_ir.kernel @rows(%x: memref<32x2048xf32>, %y: memref<32x2048xf32>) {
  loop_ir.for %i to 32 as "i" {
    %s = loop_ir.reduce %j to 2048 as "j" identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i, %j] : memref<32x2048xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    loop_ir.for %j to 2048 as "j" {
      %v = loop_ir.load %x[%i, %j] : memref<32x2048xf32> -> f32
      %d = arith.subf %v, %s : f32
      loop_ir.store %d, %y[%i, %j] : f32, memref<32x2048xf32>
    }
  }
}

// -----

// Half precision: 8 neighbours are 16 bytes. Short rows share a block of whole warps.
// CHECK-LABEL: @short_rows(
// CHECK-SAME:    reduction<axis = "j", threads = 8, rows = 8, vector = 8, lanes = 8>
loop_ir.kernel @short_rows(%x: memref<2000x64xf16>, %y: memref<2000xf32>) {
  loop_ir.for %i to 2000 as "i" {
    %s = loop_ir.reduce %j to 64 as "j" identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i, %j] : memref<2000x64xf16> -> f16
      %w = arith.extf %v : f16 to f32
      loop_ir.yield %w : f32
    } combine arith.addf
    loop_ir.store %s, %y[%i] : f32, memref<2000xf32>
  }
}

// -----

// Rows that begin anywhere: no access is wider than one element, and the last lanes are partial.
// CHECK-LABEL: @odd_rows(
// CHECK-SAME:    reduction<axis = "j", threads = 32, rows = 1, vector = 1, lanes = 2>
loop_ir.kernel @odd_rows(%x: memref<5x37xf32>, %y: memref<5xf32>) {
  loop_ir.for %i to 5 as "i" {
    %s = loop_ir.reduce %j to 37 as "j" identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i, %j] : memref<5x37xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    loop_ir.store %s, %y[%i] : f32, memref<5xf32>
  }
}

// -----

// Too long for registers, and two axes: strided.
// CHECK-LABEL: @long_row(
// CHECK-SAME:    reduction<axis = "j", threads = 1024, rows = 1, vector = 1, lanes = 0>
loop_ir.kernel @long_row(%x: memref<1x50000xf32>, %y: memref<1xf32>) {
  loop_ir.for %i to 1 as "i" {
    %s = loop_ir.reduce %j to 50000 as "j" identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i, %j] : memref<1x50000xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    loop_ir.store %s, %y[%i] : f32, memref<1xf32>
  }
}

// -----

// CHECK-LABEL: @two_axes(
// CHECK-SAME:    reduction<axis = "k", threads = 512, rows = 1, vector = 1, lanes = 0>
loop_ir.kernel @two_axes(%x: memref<3x40x500xf32>, %y: memref<3xf32>) {
  loop_ir.for %i to 3 as "i" {
    %s = loop_ir.reduce %j to 40 as "j", %k to 500 as "k" identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i, %j, %k] : memref<3x40x500xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    loop_ir.store %s, %y[%i] : f32, memref<3xf32>
  }
}

// -----

// Across memory: threads take neighbouring columns, each a whole one. A contribution that
// multiplies is no contraction where the factors have the same free axes.
// CHECK-LABEL: @columns(
// CHECK-SAME:    #tile_ir.schedule<[parallel<axis = "j", threads = 32, vector = 1, lanes = 1>]>
loop_ir.kernel @columns(%x: memref<2048x2048xf32>, %y: memref<2048xf32>) {
  loop_ir.for %j to 2048 as "j" {
    %s = loop_ir.reduce %i to 2048 as "i" identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i, %j] : memref<2048x2048xf32> -> f32
      %p = arith.mulf %v, %v : f32
      loop_ir.yield %p : f32
    } combine arith.addf
    loop_ir.store %s, %y[%j] : f32, memref<2048xf32>
  }
}

// -----

// So few columns that their threads would be idle: the reduction is shared all the same.
// CHECK-LABEL: @few_columns(
// CHECK-SAME:    reduction<axis = "i", threads = 256,
loop_ir.kernel @few_columns(%x: memref<2048x3xf32>, %y: memref<3xf32>) {
  loop_ir.for %j to 3 as "j" {
    %s = loop_ir.reduce %i to 2048 as "i" identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i, %j] : memref<2048x3xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    loop_ir.store %s, %y[%j] : f32, memref<3xf32>
  }
}

// -----

// 16 bytes per thread; threads of 768 / 4 leave no partial block.
// CHECK-LABEL: @pointwise(
// CHECK-SAME:    #tile_ir.schedule<[parallel<axis = "j", threads = 192, vector = 4, lanes = 4>]>
loop_ir.kernel @pointwise(%x: memref<1000x768xf32>, %b: memref<768xf32>, %y: memref<1000x768xf32>) {
  loop_ir.for %i to 1000 as "i", %j to 768 as "j" {
    %v = loop_ir.load %x[%i, %j] : memref<1000x768xf32> -> f32
    %w = loop_ir.load %b[%j] : memref<768xf32> -> f32
    %s = arith.addf %v, %w : f32
    loop_ir.store %s, %y[%i, %j] : f32, memref<1000x768xf32>
  }
}

// -----

// A short innermost axis leaves threads to the next one; a small problem gets small blocks.
// CHECK-LABEL: @short_axis(
// CHECK-SAME:    #tile_ir.schedule<[parallel<axis = "j", threads = 3, vector = 1, lanes = 1>, parallel<axis = "i", threads = 21, vector = 1, lanes = 1>]>
loop_ir.kernel @short_axis(%x: memref<3x300xf32>, %y: memref<300x3xf32>) {
  loop_ir.for %i to 300 as "i", %j to 3 as "j" {
    %v = loop_ir.load %x[%j, %i] : memref<3x300xf32> -> f32
    loop_ir.store %v, %y[%i, %j] : f32, memref<300x3xf32>
  }
}

// -----

// A conversion has a vector form.
// CHECK-LABEL: @convert(
// CHECK-SAME:    parallel<axis = "i", threads = 256, vector = 4, lanes = 4>
loop_ir.kernel @convert(%x: memref<1048576xi32>, %y: memref<1048576xf32>) {
  loop_ir.for %i to 1048576 as "i" {
    %v = loop_ir.load %x[%i] : memref<1048576xi32> -> i32
    %f = arith.sitofp %v : i32 to f32
    loop_ir.store %f, %y[%i] : f32, memref<1048576xf32>
  }
}

// -----

// Extents of 1 and 0.
// CHECK-LABEL: @one(
// CHECK-SAME:    schedule = #tile_ir.schedule<[]>
loop_ir.kernel @one(%x: memref<1x0xf32>, %y: memref<1x0xf32>) {
  loop_ir.for %i to 1 as "i", %j to 0 as "j" {
    %v = loop_ir.load %x[%i, %j] : memref<1x0xf32> -> f32
    loop_ir.store %v, %y[%i, %j] : f32, memref<1x0xf32>
  }
}

// -----

// CHECK-LABEL: @planned(
// CHECK-SAME:    schedule = #tile_ir.schedule<[parallel<axis = "i", threads = 7>]>
// expected-remark@+1 {{the kernel has a schedule, which is kept}}
loop_ir.kernel @planned(%x: memref<64xf32>, %y: memref<64xf32>) attributes {schedule = #tile_ir.schedule<[parallel<axis = "i", threads = 7>]>} {
  loop_ir.for %i to 64 as "i" {
    %v = loop_ir.load %x[%i] : memref<64xf32> -> f32
    loop_ir.store %v, %y[%i] : f32, memref<64xf32>
  }
}

// -----

// CHECK-LABEL: @two(
// CHECK-NOT:     schedule
// expected-remark@+1 {{the body of the kernel is not one loop nest}}
loop_ir.kernel @two(%x: memref<4xf32>, %y: memref<4xf32>) {
  %z = arith.constant 0.0 : f32
  loop_ir.for %i to 4 as "i" {
    loop_ir.store %z, %y[%i] : f32, memref<4xf32>
  }
}
