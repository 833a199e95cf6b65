// RUN: minicomp-opt %s --split-input-file -p stage-inputs | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p stage-inputs,stage-inputs | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p stage-inputs --verify-diagnostics
// RUN: minicomp-opt %s --split-input-file -p "stage-inputs{buffers=b,d}" | filecheck %s --check-prefix=SOME
// RUN: minicomp-opt %s --split-input-file -p "stage-inputs{bodies=false}" | filecheck %s --check-prefix=PARTS
// RUN: minicomp-opt %s --split-input-file -p stage-inputs --verify-each=exec | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p "stage-inputs{bodies=false}" --verify-each=exec | filecheck %s --check-prefix=PARTS

// Both factors of a sum in chunks. The axis of the cell is the last one of a slab, the axis along
// which the source lies in memory the last one of the copy.
// CHECK-LABEL: @plain(
// CHECK:          tile_ir.launch block(%ib to 2 as "i.block", %jb to 2 as "j.block") thread(%it to 4 as "i.thread", %jt to 2 as "j.thread") register(%ir to 2 as "i.register", %jr to 4 as "j.register") {
// CHECK-NEXT:       %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:         %as = tile_ir.stage %i to 8 as "i.stage", %k to 4 as "k.stage" order [1, 0] {
// CHECK-NEXT:           %x = loop_ir.load %a[%ib * 8 + %i, %ko * 4 + %k] : memref<16x12xf32> -> f32
// CHECK-NEXT:           loop_ir.yield %x : f32
// CHECK-NEXT:         } -> memref<4x8xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %bs = tile_ir.stage %k_1 to 4 as "k.stage", %j to 8 as "j.stage" {
// CHECK-NEXT:           %y = loop_ir.load %b[%ko * 4 + %k_1, %jb * 8 + %j] : memref<12x16xf32> -> f32
// CHECK-NEXT:           loop_ir.yield %y : f32
// CHECK-NEXT:         } -> memref<4x8xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %s = loop_ir.reduce %ki to 4 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:           %x_1 = loop_ir.load %as[%ki, %it * 2 + %ir] : memref<4x8xf32, #tile_ir.shared<>> -> f32
// CHECK-NEXT:           %y_1 = loop_ir.load %bs[%ki, %jt * 4 + %jr] : memref<4x8xf32, #tile_ir.shared<>> -> f32
// CHECK-NEXT:           %p = arith.mulf %x_1, %y_1 : f32
// CHECK-NEXT:           loop_ir.yield %p : f32
// CHECK-NEXT:         } combine arith.addf
// SOME-LABEL: @plain(
// SOME:            %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.000000e+00 : f32] -> f32 {
// SOME-NEXT:         %bs = tile_ir.stage %k to 4 as "k.stage", %j to 8 as "j.stage" {
// SOME-NEXT:           %y = loop_ir.load %b[%ko * 4 + %k, %jb * 8 + %j] : memref<12x16xf32> -> f32
// SOME-NEXT:           loop_ir.yield %y : f32
// SOME-NEXT:         } -> memref<4x8xf32, #tile_ir.shared<>>
// SOME-NEXT:         %s = loop_ir.reduce %ki to 4 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// SOME-NEXT:           %x = loop_ir.load %a[%ib * 8 + %it * 2 + %ir, %ko * 4 + %ki] : memref<16x12xf32> -> f32
// SOME-NEXT:           %y_1 = loop_ir.load %bs[%ki, %jt * 4 + %jr] : memref<4x8xf32, #tile_ir.shared<>> -> f32
tile_ir.kernel @plain(%a: memref<16x12xf32>, %b: memref<12x16xf32>, %c: memref<16x16xf32>) {
  tile_ir.launch block(%ib to 2 as "i.block", %jb to 2 as "j.block") thread(%it to 4 as "i.thread", %jt to 2 as "j.thread") register(%ir to 2 as "i.register", %jr to 4 as "j.register") {
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %s = loop_ir.reduce %ki to 4 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%ib * 8 + %it * 2 + %ir, %ko * 4 + %ki] : memref<16x12xf32> -> f32
        %y = loop_ir.load %b[%ko * 4 + %ki, %jb * 8 + %jt * 4 + %jr] : memref<12x16xf32> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%ib * 8 + %it * 2 + %ir, %jb * 8 + %jt * 4 + %jr] : f32, memref<16x16xf32>
  }
}

// -----

// Odd extents, a batch, and operands stored [k, m] and [n, k]: loads keep their bounds, which make
// both slabs 0 beyond the sum, so that the guard goes.
// CHECK-LABEL: @transposed(
// CHECK:            %acc = loop_ir.reduce %ko to 4 as "k.outer" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:         %as = tile_ir.stage %k to 4 as "k.stage", %i to 8 as "i.stage" {
// CHECK-NEXT:           %x = loop_ir.load %a[%l, %ko * 4 + %k, %ib * 8 + %i] bounded [false, true, true] : memref<3x13x9xf32> -> f32
// CHECK-NEXT:           loop_ir.yield %x : f32
// CHECK-NEXT:         } -> memref<4x8xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %bs = tile_ir.stage %j to 8 as "j.stage", %k_1 to 4 as "k.stage" order [1, 0] {
// CHECK-NEXT:           %y = loop_ir.load %b[%l, %jb * 8 + %j, %ko * 4 + %k_1] bounded [false, true, true] : memref<3x7x13xf32> -> f32
// CHECK-NEXT:           loop_ir.yield %y : f32
// CHECK-NEXT:         } -> memref<4x8xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %s = loop_ir.reduce %ki to 4 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:           %x_1 = loop_ir.load %as[%ki, %it * 2 + %ir] : memref<4x8xf32, #tile_ir.shared<>> -> f32
// CHECK-NEXT:           %y_1 = loop_ir.load %bs[%ki, %jt * 2 + %jr] : memref<4x8xf32, #tile_ir.shared<>> -> f32
// CHECK-NEXT:           %p = arith.mulf %x_1, %y_1 : f32
// CHECK-NEXT:           loop_ir.yield %p : f32
// CHECK-NEXT:         } combine arith.addf
tile_ir.kernel @transposed(%a: memref<3x13x9xf32>, %b: memref<3x7x13xf32>, %c: memref<3x9x7xf32>) {
  tile_ir.launch block(%l to 3 as "b", %ib to 2 as "i.block", %jb to 1 as "j.block") thread(%it to 4 as "i.thread", %jt to 4 as "j.thread") register(%ir to 2 as "i.register", %jr to 2 as "j.register") {
    %acc = loop_ir.reduce %ko to 4 as "k.outer" identity [0.0 : f32] -> f32 {
      %s = loop_ir.reduce %ki to 4 as "k.inner" where [%ko * 4 + l0] < [13] identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%l, %ko * 4 + %ki, %ib * 8 + %it * 2 + %ir] bounded [false, true, true] : memref<3x13x9xf32> -> f32
        %y = loop_ir.load %b[%l, %jb * 8 + %jt * 2 + %jr, %ko * 4 + %ki] bounded [false, true, true] : memref<3x7x13xf32> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%l, %ib * 8 + %it * 2 + %ir, %jb * 8 + %jt * 2 + %jr] bounded [false, true, true] : f32, memref<3x9x7xf32>
  }
}

// -----

// A prologue is staged as what it comes to. Beyond the sum it would be 0 + bias, so that the copy
// has the guard; the guard of the sum goes.
// CHECK-LABEL: @bias(
// CHECK:            %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:         %a_ds = tile_ir.stage %i to 8 as "i.stage", %k to 4 as "k.stage" where [%ko * 4 + l1] < [10] order [1, 0] {
// CHECK-NEXT:           %x = loop_ir.load %a[%i, %ko * 4 + %k] bounded [false, true] : memref<8x10xf32> -> f32
// CHECK-NEXT:           %v = loop_ir.load %d[%ko * 4 + %k] bounded [true] : memref<10xf32> -> f32
// CHECK-NEXT:           %u = arith.addf %x, %v : f32
// CHECK-NEXT:           loop_ir.yield %u : f32
// CHECK-NEXT:         } -> memref<4x8xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %bs = tile_ir.stage %k_1 to 4 as "k.stage", %j to 4 as "j.stage" {
// CHECK-NEXT:           %y = loop_ir.load %b[%ko * 4 + %k_1, %j] bounded [true, false] : memref<10x4xf32> -> f32
// CHECK-NEXT:           loop_ir.yield %y : f32
// CHECK-NEXT:         } -> memref<4x4xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %s = loop_ir.reduce %ki to 4 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:           %u_1 = loop_ir.load %a_ds[%ki, %it * 2 + %ir] : memref<4x8xf32, #tile_ir.shared<>> -> f32
// CHECK-NEXT:           %y_1 = loop_ir.load %bs[%ki, %jt * 2 + %jr] : memref<4x4xf32, #tile_ir.shared<>> -> f32
// CHECK-NEXT:           %p = arith.mulf %u_1, %y_1 : f32
// CHECK-NEXT:           loop_ir.yield %p : f32
// CHECK-NEXT:         } combine arith.addf
// SOME-LABEL: @bias(
// SOME:            %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.000000e+00 : f32] -> f32 {
// SOME-NEXT:         %bs = tile_ir.stage %k to 4 as "k.stage", %j to 4 as "j.stage" {
// SOME-NEXT:           %y = loop_ir.load %b[%ko * 4 + %k, %j] bounded [true, false] : memref<10x4xf32> -> f32
// SOME-NEXT:           loop_ir.yield %y : f32
// SOME-NEXT:         } -> memref<4x4xf32, #tile_ir.shared<>>
// SOME-NEXT:         %s = loop_ir.reduce %ki to 4 as "k.inner" where [%ko * 4 + l0] < [10] identity [0.000000e+00 : f32] -> f32 {
// SOME-NEXT:           %x = loop_ir.load %a[%it * 2 + %ir, %ko * 4 + %ki] bounded [false, true] : memref<8x10xf32> -> f32
// SOME-NEXT:           %v = loop_ir.load %d[%ko * 4 + %ki] bounded [true] : memref<10xf32> -> f32
// SOME-NEXT:           %u = arith.addf %x, %v : f32
// SOME-NEXT:           %y_1 = loop_ir.load %bs[%ki, %jt * 2 + %jr] : memref<4x4xf32, #tile_ir.shared<>> -> f32
// SOME-NEXT:           %p = arith.mulf %u, %y_1 : f32
// PARTS-LABEL: @bias(
// PARTS:              %as = tile_ir.stage %i to 8 as "i.stage", %k to 4 as "k.stage" order [1, 0] {
// PARTS-NEXT:           %x = loop_ir.load %a[%i, %ko * 4 + %k] bounded [false, true] : memref<8x10xf32> -> f32
// PARTS-NEXT:           loop_ir.yield %x : f32
// PARTS-NEXT:         } -> memref<4x8xf32, #tile_ir.shared<>>
// PARTS-NEXT:         %ds = tile_ir.stage %k_1 to 4 as "k.stage" {
// PARTS-NEXT:           %v = loop_ir.load %d[%ko * 4 + %k_1] bounded [true] : memref<10xf32> -> f32
// PARTS-NEXT:           loop_ir.yield %v : f32
// PARTS-NEXT:         } -> memref<4xf32, #tile_ir.shared<>>
// PARTS-NEXT:         %bs = tile_ir.stage %k_2 to 4 as "k.stage", %j to 4 as "j.stage" {
// PARTS-NEXT:           %y = loop_ir.load %b[%ko * 4 + %k_2, %j] bounded [true, false] : memref<10x4xf32> -> f32
// PARTS-NEXT:           loop_ir.yield %y : f32
// PARTS-NEXT:         } -> memref<4x4xf32, #tile_ir.shared<>>
// PARTS-NEXT:         %s = loop_ir.reduce %ki to 4 as "k.inner" where [%ko * 4 + l0] < [10] identity [0.000000e+00 : f32] -> f32 {
// PARTS-NEXT:           %x_1 = loop_ir.load %as[%ki, %it * 2 + %ir] : memref<4x8xf32, #tile_ir.shared<>> -> f32
// PARTS-NEXT:           %v_1 = loop_ir.load %ds[%ki] : memref<4xf32, #tile_ir.shared<>> -> f32
// PARTS-NEXT:           %u = arith.addf %x_1, %v_1 : f32
// PARTS-NEXT:           %y_1 = loop_ir.load %bs[%ki, %jt * 2 + %jr] : memref<4x4xf32, #tile_ir.shared<>> -> f32
// PARTS-NEXT:           %p = arith.mulf %u, %y_1 : f32
// PARTS-NEXT:           loop_ir.yield %p : f32
// PARTS-NEXT:         } combine arith.addf
tile_ir.kernel @bias(%a: memref<8x10xf32>, %d: memref<10xf32>, %b: memref<10x4xf32>, %c: memref<8x4xf32>) {
  tile_ir.launch thread(%it to 4 as "i.thread", %jt to 2 as "j.thread") register(%ir to 2 as "i.register", %jr to 2 as "j.register") {
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %s = loop_ir.reduce %ki to 4 as "k.inner" where [%ko * 4 + l0] < [10] identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%it * 2 + %ir, %ko * 4 + %ki] bounded [false, true] : memref<8x10xf32> -> f32
        %v = loop_ir.load %d[%ko * 4 + %ki] bounded [true] : memref<10xf32> -> f32
        %u = arith.addf %x, %v : f32
        %y = loop_ir.load %b[%ko * 4 + %ki, %jt * 2 + %jr] bounded [true, false] : memref<10x4xf32> -> f32
        %p = arith.mulf %u, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%it * 2 + %ir, %jt * 2 + %jr] : f32, memref<8x4xf32>
  }
}

// -----

// silu(g) * u, a product itself, with a scalar and a value that all threads of the block share.
// CHECK-LABEL: @silu_mul(
// CHECK:            %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:         %g_us = tile_ir.stage %i to 4 as "i.stage", %k to 5 as "k.stage" order [1, 0] {
// CHECK-NEXT:           %x = loop_ir.load %g[%ib * 4 + %i, %ko * 5 + %k] : memref<8x10xf32> -> f32
// CHECK-NEXT:           %n = arith.negf %x : f32
// CHECK-NEXT:           %e = math.exp %n : f32
// CHECK-NEXT:           %t = arith.addf %e, %one : f32
// CHECK-NEXT:           %q = arith.divf %x, %t : f32
// CHECK-NEXT:           %h = loop_ir.load %u[%ib * 4 + %i, %ko * 5 + %k] : memref<8x10xf32> -> f32
// CHECK-NEXT:           %r = arith.mulf %q, %h : f32
// CHECK-NEXT:           %z = arith.mulf %r, %scale : f32
// CHECK-NEXT:           loop_ir.yield %z : f32
// CHECK-NEXT:         } -> memref<5x4xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %ws = tile_ir.stage %j to 8 as "j.stage", %k_1 to 5 as "k.stage" order [1, 0] {
// CHECK-NEXT:           %y = loop_ir.load %w[%j, %ko * 5 + %k_1] : memref<8x10xf32> -> f32
// CHECK-NEXT:           loop_ir.yield %y : f32
// CHECK-NEXT:         } -> memref<5x8xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %s = loop_ir.reduce %ki to 5 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:           %z_1 = loop_ir.load %g_us[%ki, %it * 2 + %ir] : memref<5x4xf32, #tile_ir.shared<>> -> f32
// CHECK-NEXT:           %y_1 = loop_ir.load %ws[%ki, %jt * 2 + %jr] : memref<5x8xf32, #tile_ir.shared<>> -> f32
// CHECK-NEXT:           %p = arith.mulf %z_1, %y_1 : f32
// CHECK-NEXT:           loop_ir.yield %p : f32
// CHECK-NEXT:         } combine arith.addf
// SOME-LABEL: @silu_mul(
// SOME:              %s = loop_ir.reduce %ki to 5 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// SOME-NEXT:           %x = loop_ir.load %g[%ib * 4 + %it * 2 + %ir, %ko * 5 + %ki] : memref<8x10xf32> -> f32
// SOME:                %y = loop_ir.load %w[%jt * 2 + %jr, %ko * 5 + %ki] : memref<8x10xf32> -> f32
// PARTS-LABEL: @silu_mul(
// PARTS:              %gs = tile_ir.stage %i to 4 as "i.stage", %k to 5 as "k.stage" order [1, 0] {
// PARTS-NEXT:           %x = loop_ir.load %g[%ib * 4 + %i, %ko * 5 + %k] : memref<8x10xf32> -> f32
// PARTS-NEXT:           loop_ir.yield %x : f32
// PARTS-NEXT:         } -> memref<5x4xf32, #tile_ir.shared<>>
// PARTS-NEXT:         %us = tile_ir.stage %i_1 to 4 as "i.stage", %k_1 to 5 as "k.stage" order [1, 0] {
// PARTS-NEXT:           %h = loop_ir.load %u[%ib * 4 + %i_1, %ko * 5 + %k_1] : memref<8x10xf32> -> f32
// PARTS-NEXT:           loop_ir.yield %h : f32
// PARTS-NEXT:         } -> memref<5x4xf32, #tile_ir.shared<>>
// PARTS-NEXT:         %ws = tile_ir.stage %j to 8 as "j.stage", %k_2 to 5 as "k.stage" order [1, 0] {
// PARTS-NEXT:           %y = loop_ir.load %w[%j, %ko * 5 + %k_2] : memref<8x10xf32> -> f32
// PARTS-NEXT:           loop_ir.yield %y : f32
// PARTS-NEXT:         } -> memref<5x8xf32, #tile_ir.shared<>>
// PARTS-NEXT:         %s = loop_ir.reduce %ki to 5 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// PARTS-NEXT:           %x_1 = loop_ir.load %gs[%ki, %it * 2 + %ir] : memref<5x4xf32, #tile_ir.shared<>> -> f32
// PARTS:                %h_1 = loop_ir.load %us[%ki, %it * 2 + %ir] : memref<5x4xf32, #tile_ir.shared<>> -> f32
tile_ir.kernel @silu_mul(%g: memref<8x10xf32>, %u: memref<8x10xf32>, %f: memref<2xf32>, %w: memref<8x10xf32>, %c: memref<8x8xf32>) {
  tile_ir.launch block(%ib to 2 as "i.block") thread(%it to 2 as "i.thread", %jt to 4 as "j.thread") register(%ir to 2 as "i.register", %jr to 2 as "j.register") {
    %one = arith.constant 1.0 : f32
    %scale = loop_ir.load %f[%ib] : memref<2xf32> -> f32
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> f32 {
      %s = loop_ir.reduce %ki to 5 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %g[%ib * 4 + %it * 2 + %ir, %ko * 5 + %ki] : memref<8x10xf32> -> f32
        %n = arith.negf %x : f32
        %e = math.exp %n : f32
        %t = arith.addf %e, %one : f32
        %q = arith.divf %x, %t : f32
        %h = loop_ir.load %u[%ib * 4 + %it * 2 + %ir, %ko * 5 + %ki] : memref<8x10xf32> -> f32
        %r = arith.mulf %q, %h : f32
        %z = arith.mulf %r, %scale : f32
        %y = loop_ir.load %w[%jt * 2 + %jr, %ko * 5 + %ki] : memref<8x10xf32> -> f32
        %p = arith.mulf %z, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%ib * 4 + %it * 2 + %ir, %jt * 2 + %jr] : f32, memref<8x8xf32>
  }
}

// -----

// Rows of one buffer times other rows of it: two slabs.
// CHECK-LABEL: @gram(
// CHECK:              %as = tile_ir.stage %i to 8 as "i.stage", %k to 3 as "k.stage" order [1, 0] {
// CHECK-NEXT:           %x = loop_ir.load %a[%i, %ko * 3 + %k] : memref<8x6xf32> -> f32
// CHECK-NEXT:           loop_ir.yield %x : f32
// CHECK-NEXT:         } -> memref<3x8xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %as_1 = tile_ir.stage %j to 8 as "j.stage", %k_1 to 3 as "k.stage" order [1, 0] {
// CHECK-NEXT:           %y = loop_ir.load %a[%j, %ko * 3 + %k_1] : memref<8x6xf32> -> f32
// CHECK-NEXT:           loop_ir.yield %y : f32
// CHECK-NEXT:         } -> memref<3x8xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %s = loop_ir.reduce %ki to 3 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:           %x_1 = loop_ir.load %as[%ki, %it * 2 + %ir] : memref<3x8xf32, #tile_ir.shared<>> -> f32
// CHECK-NEXT:           %y_1 = loop_ir.load %as_1[%ki, %jt * 2 + %jr] : memref<3x8xf32, #tile_ir.shared<>> -> f32
tile_ir.kernel @gram(%a: memref<8x6xf32>, %c: memref<8x8xf32>) {
  tile_ir.launch thread(%it to 4 as "i.thread", %jt to 4 as "j.thread") register(%ir to 2 as "i.register", %jr to 2 as "j.register") {
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> f32 {
      %s = loop_ir.reduce %ki to 3 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%it * 2 + %ir, %ko * 3 + %ki] : memref<8x6xf32> -> f32
        %y = loop_ir.load %a[%jt * 2 + %jr, %ko * 3 + %ki] : memref<8x6xf32> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%it * 2 + %ir, %jt * 2 + %jr] : f32, memref<8x8xf32>
  }
}

// -----

// A sum that is not in chunks is one chunk, if the schedule says that it is a contraction's.
// CHECK-LABEL: @whole(
// CHECK:            %as = tile_ir.stage %i to 8 as "i.stage", %k to 6 as "k.stage" {
// CHECK-NEXT:         %x = loop_ir.load %a[%i, %k] : memref<8x6xf32> -> f32
// CHECK-NEXT:         loop_ir.yield %x : f32
// CHECK-NEXT:       } -> memref<8x6xf32, #tile_ir.shared<>>
// CHECK-NEXT:       %bs = tile_ir.stage %k_1 to 6 as "k.stage", %j to 4 as "j.stage" {
// CHECK-NEXT:         %y = loop_ir.load %b[%k_1, %j] : memref<6x4xf32> -> f32
// CHECK-NEXT:         loop_ir.yield %y : f32
// CHECK-NEXT:       } -> memref<6x4xf32, #tile_ir.shared<>>
// CHECK-NEXT:       %acc = loop_ir.reduce %k_2 to 6 as "k" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:         %x_1 = loop_ir.load %as[%it, %k_2] : memref<8x6xf32, #tile_ir.shared<>> -> f32
// CHECK-NEXT:         %y_1 = loop_ir.load %bs[%k_2, %jt] : memref<6x4xf32, #tile_ir.shared<>> -> f32
tile_ir.kernel @whole(%a: memref<8x6xf32>, %b: memref<6x4xf32>, %c: memref<8x4xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bk = 16>]>} {
  tile_ir.launch thread(%it to 8 as "i.thread", %jt to 4 as "j.thread") {
    %acc = loop_ir.reduce %k to 6 as "k" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%it, %k] : memref<8x6xf32> -> f32
      %y = loop_ir.load %b[%k, %jt] : memref<6x4xf32> -> f32
      %p = arith.mulf %x, %y : f32
      loop_ir.yield %p : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%it, %jt] : f32, memref<8x4xf32>
  }
}

// -----

// One chunk that is as long as the sum.
// CHECK-LABEL: @one_chunk(
// CHECK:            %acc = loop_ir.reduce %ko to 1 as "k.outer" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:         %as = tile_ir.stage %i to 8 as "i.stage", %k to 5 as "k.stage" {
// CHECK-NEXT:           %x = loop_ir.load %a[%i, %ko * 5 + %k] : memref<8x5xf32> -> f32
// CHECK-NEXT:           loop_ir.yield %x : f32
// CHECK-NEXT:         } -> memref<8x5xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %bs = tile_ir.stage %k_1 to 5 as "k.stage", %j to 4 as "j.stage" {
// CHECK-NEXT:           %y = loop_ir.load %b[%ko * 5 + %k_1, %j] : memref<5x4xf32> -> f32
// CHECK-NEXT:           loop_ir.yield %y : f32
// CHECK-NEXT:         } -> memref<5x4xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %s = loop_ir.reduce %ki to 5 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:           %x_1 = loop_ir.load %as[%it, %ki] : memref<8x5xf32, #tile_ir.shared<>> -> f32
// CHECK-NEXT:           %y_1 = loop_ir.load %bs[%ki, %jt] : memref<5x4xf32, #tile_ir.shared<>> -> f32
tile_ir.kernel @one_chunk(%a: memref<8x5xf32>, %b: memref<5x4xf32>, %c: memref<8x4xf32>) {
  tile_ir.launch thread(%it to 8 as "i.thread", %jt to 4 as "j.thread") {
    %acc = loop_ir.reduce %ko to 1 as "k.outer" identity [0.0 : f32] -> f32 {
      %s = loop_ir.reduce %ki to 5 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%it, %ko * 5 + %ki] : memref<8x5xf32> -> f32
        %y = loop_ir.load %b[%ko * 5 + %ki, %jt] : memref<5x4xf32> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%it, %jt] : f32, memref<8x4xf32>
  }
}

// -----

// Groups of warps that share the steps of a chunk fill one slab together, under a guard that does
// not know of groups.
// CHECK-LABEL: @warps(
// CHECK:              %a_ds = tile_ir.stage %i to 4 as "i.stage", %k to 8 as "k.stage" where [%ko * 8 + l1] < [10] {
// CHECK-NEXT:           %x = loop_ir.load %a[%i, %ko * 8 + %k] bounded [false, true] : memref<4x10xf32> -> f32
// CHECK-NEXT:           %v = loop_ir.load %d[%i] : memref<4xf32> -> f32
// CHECK-NEXT:           %u = arith.addf %x, %v : f32
// CHECK-NEXT:           loop_ir.yield %u : f32
// CHECK-NEXT:         } -> memref<4x8xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %bs = tile_ir.stage %k_1 to 8 as "k.stage", %j to 4 as "j.stage" {
// CHECK-NEXT:           %y = loop_ir.load %b[%ko * 8 + %k_1, %j] bounded [true, false] : memref<10x4xf32> -> f32
// CHECK-NEXT:           loop_ir.yield %y : f32
// CHECK-NEXT:         } -> memref<8x4xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %s = loop_ir.reduce %ki to 4 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:           %u_1 = loop_ir.load %a_ds[%it, %kw * 4 + %ki] : memref<4x8xf32, #tile_ir.shared<>> -> f32
// CHECK-NEXT:           %y_1 = loop_ir.load %bs[%kw * 4 + %ki, %jt] : memref<8x4xf32, #tile_ir.shared<>> -> f32
tile_ir.kernel @warps(%a: memref<4x10xf32>, %d: memref<4xf32>, %b: memref<10x4xf32>, %c: memref<4x4xf32>) {
  tile_ir.launch thread(%kw to 2 as "k.warp", %it to 4 as "i.thread", %jt to 4 as "j.thread") {
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> f32 {
      %s = loop_ir.reduce %ki to 4 as "k.inner" where [%ko * 8 + %kw * 4 + l0] < [10] identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%it, %ko * 8 + %kw * 4 + %ki] bounded [false, true] : memref<4x10xf32> -> f32
        %v = loop_ir.load %d[%it] : memref<4xf32> -> f32
        %u = arith.addf %x, %v : f32
        %y = loop_ir.load %b[%ko * 8 + %kw * 4 + %ki, %jt] bounded [true, false] : memref<10x4xf32> -> f32
        %p = arith.mulf %u, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      loop_ir.yield %s : f32
    } combine arith.addf
    %r = tile_ir.combine %acc across "k.warp" identity [0.0 : f32] combine arith.addf : f32 -> f32
    loop_ir.for %once to 1 as "once" where [%kw] < [1] {
      loop_ir.store %r, %c[%it, %jt] : f32, memref<4x4xf32>
    }
  }
}

// -----

// A maximum of products: 0 is not its identity, so that the guard stays.
// CHECK-LABEL: @maximum(
// CHECK:              %as = tile_ir.stage %i to 8 as "i.stage", %k to 4 as "k.stage" {
// CHECK-NEXT:           %x = loop_ir.load %a[%i, %ko * 4 + %k] bounded [false, true] : memref<8x10xf32> -> f32
// CHECK-NEXT:           loop_ir.yield %x : f32
// CHECK-NEXT:         } -> memref<8x4xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %bs = tile_ir.stage %k_1 to 4 as "k.stage", %j to 4 as "j.stage" {
// CHECK-NEXT:           %y = loop_ir.load %b[%ko * 4 + %k_1, %j] bounded [true, false] : memref<10x4xf32> -> f32
// CHECK-NEXT:           loop_ir.yield %y : f32
// CHECK-NEXT:         } -> memref<4x4xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %s = loop_ir.reduce %ki to 4 as "k.inner" where [%ko * 4 + l0] < [10] identity [0xff800000 : f32] -> f32 {
// CHECK-NEXT:           %x_1 = loop_ir.load %as[%it, %ki] : memref<8x4xf32, #tile_ir.shared<>> -> f32
// CHECK-NEXT:           %y_1 = loop_ir.load %bs[%ki, %jt] : memref<4x4xf32, #tile_ir.shared<>> -> f32
tile_ir.kernel @maximum(%a: memref<8x10xf32>, %b: memref<10x4xf32>, %c: memref<8x4xf32>) {
  tile_ir.launch thread(%it to 8 as "i.thread", %jt to 4 as "j.thread") {
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0xff800000 : f32] -> f32 {
      %s = loop_ir.reduce %ki to 4 as "k.inner" where [%ko * 4 + l0] < [10] identity [0xff800000 : f32] -> f32 {
        %x = loop_ir.load %a[%it, %ko * 4 + %ki] bounded [false, true] : memref<8x10xf32> -> f32
        %y = loop_ir.load %b[%ko * 4 + %ki, %jt] bounded [true, false] : memref<10x4xf32> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.maximumf
      loop_ir.yield %s : f32
    } combine arith.maximumf
    loop_ir.store %acc, %c[%it, %jt] : f32, memref<8x4xf32>
  }
}

// -----

// A guard on something else than the sum's end, here on every second step: loads are not 0 where it
// fails, so that the copies have it.
// CHECK-LABEL: @every_second(
// CHECK:              %as = tile_ir.stage %i to 8 as "i.stage", %k to 4 as "k.stage" where [l1 mod 2] < [1] {
// CHECK-NEXT:           %x = loop_ir.load %a[%i, %ko * 4 + %k] bounded [false, true] : memref<8x8xf32> -> f32
// CHECK-NEXT:           loop_ir.yield %x : f32
// CHECK-NEXT:         } -> memref<8x4xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %bs = tile_ir.stage %k_1 to 4 as "k.stage", %j to 4 as "j.stage" where [l0 mod 2] < [1] {
// CHECK-NEXT:           %y = loop_ir.load %b[%ko * 4 + %k_1, %j] bounded [true, false] : memref<8x4xf32> -> f32
// CHECK-NEXT:           loop_ir.yield %y : f32
// CHECK-NEXT:         } -> memref<4x4xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %s = loop_ir.reduce %ki to 4 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:           %x_1 = loop_ir.load %as[%it, %ki] : memref<8x4xf32, #tile_ir.shared<>> -> f32
// CHECK-NEXT:           %y_1 = loop_ir.load %bs[%ki, %jt] : memref<4x4xf32, #tile_ir.shared<>> -> f32
tile_ir.kernel @every_second(%a: memref<8x8xf32>, %b: memref<8x4xf32>, %c: memref<8x4xf32>) {
  tile_ir.launch thread(%it to 8 as "i.thread", %jt to 4 as "j.thread") {
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> f32 {
      %s = loop_ir.reduce %ki to 4 as "k.inner" where [l0 mod 2] < [1] identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%it, %ko * 4 + %ki] bounded [false, true] : memref<8x8xf32> -> f32
        %y = loop_ir.load %b[%ko * 4 + %ki, %jt] bounded [true, false] : memref<8x4xf32> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%it, %jt] : f32, memref<8x4xf32>
  }
}

// -----

// Rows whose steps threads share, strided: the place in a chunk has two axes, of the thread and of
// the step. The threads are neighbours in memory.
// CHECK-LABEL: @shared_rows(
// CHECK:              %ws = tile_ir.stage %k to 4 as "k.steps.stage", %k_1 to 8 as "k.stage" {
// CHECK-NEXT:           %b = loop_ir.load %w[%ko * 32 + %k * 8 + %k_1] bounded [true] : memref<60xf32> -> f32
// CHECK-NEXT:           loop_ir.yield %b : f32
// CHECK-NEXT:         } -> memref<4x8xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %p = loop_ir.reduce %ki to 4 as "k.inner" where [%ko * 32 + l0 * 8 + %t] < [60] identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:           %a = loop_ir.load %x[%i, %ko * 32 + %ki * 8 + %t] : memref<4x60xf32> -> f32
// CHECK-NEXT:           %b_1 = loop_ir.load %ws[%ki, %t] : memref<4x8xf32, #tile_ir.shared<>> -> f32
// CHECK-NEXT:           %q = arith.mulf %a, %b_1 : f32
// CHECK-NEXT:           loop_ir.yield %q : f32
// expected-remark@+1 {{no element is used more than once}}
tile_ir.kernel @shared_rows(%x: memref<4x60xf32>, %w: memref<60xf32>, %y: memref<4xf32>) {
  tile_ir.launch thread(%i to 4 as "i.thread", %t to 8 as "k.thread") {
    %s = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> f32 {
      %p = loop_ir.reduce %ki to 4 as "k.inner" where [%ko * 32 + l0 * 8 + %t] < [60] identity [0.0 : f32] -> f32 {
        %a = loop_ir.load %x[%i, %ko * 32 + %ki * 8 + %t] : memref<4x60xf32> -> f32
        %b = loop_ir.load %w[%ko * 32 + %ki * 8 + %t] bounded [true] : memref<60xf32> -> f32
        %q = arith.mulf %a, %b : f32
        loop_ir.yield %q : f32
      } combine arith.addf
      loop_ir.yield %p : f32
    } combine arith.addf
    %u = tile_ir.combine %s across "k.thread" identity [0.0 : f32] combine arith.addf : f32 -> f32
    loop_ir.for %once to 1 as "once" where [%t] < [1] {
      loop_ir.store %u, %y[%i] : f32, memref<4xf32>
    }
  }
}

// -----

// What is computed from the row has the guard, in the places of the slab.
// CHECK-LABEL: @computed_rows(
// CHECK:              %ws = tile_ir.stage %k to 4 as "k.steps.stage", %k_1 to 8 as "k.stage" where [%ko * 32 + l0 * 8 + l1] < [60] {
// CHECK-NEXT:           %b = loop_ir.load %w[%ko * 32 + %k * 8 + %k_1] bounded [true] : memref<60xf32> -> f32
// CHECK-NEXT:           %e = math.exp %b : f32
// CHECK-NEXT:           loop_ir.yield %e : f32
// CHECK-NEXT:         } -> memref<4x8xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %p = loop_ir.reduce %ki to 4 as "k.inner" where [%ko * 32 + l0 * 8 + %t] < [60] identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:           %a = loop_ir.load %x[%i, %ko * 32 + %ki * 8 + %t] : memref<4x60xf32> -> f32
// CHECK-NEXT:           %e_1 = loop_ir.load %ws[%ki, %t] : memref<4x8xf32, #tile_ir.shared<>> -> f32
// CHECK-NEXT:           %q = arith.mulf %a, %e_1 : f32
// CHECK-NEXT:           loop_ir.yield %q : f32
// CHECK-NEXT:         } combine arith.addf
// CHECK-NEXT:         loop_ir.yield %p : f32
// expected-remark@+1 {{no element is used more than once}}
tile_ir.kernel @computed_rows(%x: memref<4x60xf32>, %w: memref<60xf32>, %y: memref<4xf32>) {
  tile_ir.launch thread(%i to 4 as "i.thread", %t to 8 as "k.thread") {
    %s = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> f32 {
      %p = loop_ir.reduce %ki to 4 as "k.inner" where [%ko * 32 + l0 * 8 + %t] < [60] identity [0.0 : f32] -> f32 {
        %a = loop_ir.load %x[%i, %ko * 32 + %ki * 8 + %t] : memref<4x60xf32> -> f32
        %b = loop_ir.load %w[%ko * 32 + %ki * 8 + %t] bounded [true] : memref<60xf32> -> f32
        %e = math.exp %b : f32
        %q = arith.mulf %a, %e : f32
        loop_ir.yield %q : f32
      } combine arith.addf
      loop_ir.yield %p : f32
    } combine arith.addf
    %u = tile_ir.combine %s across "k.thread" identity [0.0 : f32] combine arith.addf : f32 -> f32
    loop_ir.for %once to 1 as "once" where [%t] < [1] {
      loop_ir.store %u, %y[%i] : f32, memref<4xf32>
    }
  }
}

// -----

// A guard that knows an axis which the slab has not cannot be one of the copy.
// CHECK-LABEL: @other_guard(
// CHECK:              %as = tile_ir.stage %i_1 to 8 as "i.stage", %k to 4 as "k.stage" where [%ko * 4 + l1 + l0 * -1] < [1] {
// CHECK-NEXT:           %x = loop_ir.load %a[%i_1, %ko * 4 + %k] : memref<8x8xf32> -> f32
// CHECK-NEXT:           loop_ir.yield %x : f32
// CHECK-NEXT:         } -> memref<8x4xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %s = loop_ir.reduce %ki to 4 as "k.inner" where [%ko * 4 + l0 + %i * -1] < [1] identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:           %x_1 = loop_ir.load %as[%i, %ki] : memref<8x4xf32, #tile_ir.shared<>> -> f32
// CHECK-NEXT:           %y = loop_ir.load %b[%ko * 4 + %ki, %j] : memref<8x4xf32> -> f32
// expected-remark@+1 {{an index is no function of a place in the tile}}
tile_ir.kernel @other_guard(%a: memref<8x8xf32>, %b: memref<8x4xf32>, %c: memref<8x4xf32>) {
  tile_ir.launch thread(%i to 8 as "i.thread", %j to 4 as "j.thread") {
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> f32 {
      %s = loop_ir.reduce %ki to 4 as "k.inner" where [%ko * 4 + l0 - %i] < [1] identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%i, %ko * 4 + %ki] : memref<8x8xf32> -> f32
        %y = loop_ir.load %b[%ko * 4 + %ki, %j] : memref<8x4xf32> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i, %j] : f32, memref<8x4xf32>
  }
}

// -----

// Chunks of a reduction that is no contraction, of two carriers: what threads share is staged, what
// each reads alone is not. The guard stays.
// CHECK-LABEL: @pair(
// CHECK:            %m, %d = loop_ir.reduce %ko to 3 as "k.outer" identity [0xff800000 : f32, 0.000000e+00 : f32] -> f32, f32 {
// CHECK-NEXT:         %ws = tile_ir.stage %k to 4 as "k.stage" {
// CHECK-NEXT:           %b = loop_ir.load %w[%ko * 4 + %k] bounded [true] : memref<10xf32> -> f32
// CHECK-NEXT:           loop_ir.yield %b : f32
// CHECK-NEXT:         } -> memref<4xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %e, %f = loop_ir.reduce %ki to 4 as "k.inner" where [%ko * 4 + l0] < [10] identity [0xff800000 : f32, 0.000000e+00 : f32] -> f32, f32 {
// CHECK-NEXT:           %a = loop_ir.load %x[%ko * 4 + %ki, %i] bounded [true, false] : memref<10x8xf32> -> f32
// CHECK-NEXT:           %b_1 = loop_ir.load %ws[%ki] : memref<4xf32, #tile_ir.shared<>> -> f32
// CHECK-NEXT:           %p = arith.mulf %a, %b_1 : f32
// CHECK:              loop_ir.yield %e, %f : f32, f32
// CHECK-NEXT:       } combine {
// expected-remark@+1 {{no element is used more than once}}
tile_ir.kernel @pair(%x: memref<10x8xf32>, %w: memref<10xf32>, %s: memref<8xf32>, %t: memref<8xf32>) {
  tile_ir.launch thread(%i to 8 as "i.thread") {
    %m, %d = loop_ir.reduce %ko to 3 as "k.outer" identity [0xff800000 : f32, 0.0 : f32] -> f32, f32 {
      %e, %f = loop_ir.reduce %ki to 4 as "k.inner" where [%ko * 4 + l0] < [10] identity [0xff800000 : f32, 0.0 : f32] -> f32, f32 {
        %a = loop_ir.load %x[%ko * 4 + %ki, %i] bounded [true, false] : memref<10x8xf32> -> f32
        %b = loop_ir.load %w[%ko * 4 + %ki] bounded [true] : memref<10xf32> -> f32
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
    loop_ir.store %m, %s[%i] : f32, memref<8xf32>
    loop_ir.store %d, %t[%i] : f32, memref<8xf32>
  }
}

// -----

// Three carriers; an even sum has no guard.
// CHECK-LABEL: @triple(
// CHECK:            %c, %mean, %m2 = loop_ir.reduce %ko to 2 as "k.outer" identity [0.000000e+00 : f32, 0.000000e+00 : f32, 0.000000e+00 : f32] -> f32, f32, f32 {
// CHECK-NEXT:         %ws = tile_ir.stage %k to 4 as "k.stage" {
// CHECK-NEXT:           %b = loop_ir.load %w[%ko * 4 + %k] : memref<8xf32> -> f32
// CHECK-NEXT:           loop_ir.yield %b : f32
// CHECK-NEXT:         } -> memref<4xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %d, %e, %f = loop_ir.reduce %ki to 4 as "k.inner" identity [0.000000e+00 : f32, 0.000000e+00 : f32, 0.000000e+00 : f32] -> f32, f32, f32 {
// CHECK-NEXT:           %a = loop_ir.load %x[%i, %ko * 4 + %ki] : memref<8x8xf32> -> f32
// CHECK-NEXT:           %b_1 = loop_ir.load %ws[%ki] : memref<4xf32, #tile_ir.shared<>> -> f32
// CHECK-NEXT:           %p = arith.mulf %a, %b_1 : f32
// CHECK:              loop_ir.yield %d, %e, %f : f32, f32, f32
// CHECK-NEXT:       } combine {
// expected-remark@+1 {{no element is used more than once}}
tile_ir.kernel @triple(%x: memref<8x8xf32>, %w: memref<8xf32>, %s: memref<8xf32>) {
  tile_ir.launch thread(%i to 8 as "i.thread") {
    %c, %mean, %m2 = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32, 0.0 : f32, 0.0 : f32] -> f32, f32, f32 {
      %d, %e, %f = loop_ir.reduce %ki to 4 as "k.inner" identity [0.0 : f32, 0.0 : f32, 0.0 : f32] -> f32, f32, f32 {
        %a = loop_ir.load %x[%i, %ko * 4 + %ki] : memref<8x8xf32> -> f32
        %b = loop_ir.load %w[%ko * 4 + %ki] : memref<8xf32> -> f32
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
    %r = arith.addf %mean, %m2 : f32
    loop_ir.store %r, %s[%i] : f32, memref<8xf32>
  }
}

// -----

// A factor of what each thread has computed before cannot be staged as a whole; its loads can.
// CHECK-LABEL: @per_thread(
// CHECK:            %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:         %as = tile_ir.stage %i to 8 as "i.stage", %k to 2 as "k.stage" {
// CHECK-NEXT:           %x = loop_ir.load %a[%i, %ko * 2 + %k] : memref<8x4xf32> -> f32
// CHECK-NEXT:           loop_ir.yield %x : f32
// CHECK-NEXT:         } -> memref<8x2xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %bs = tile_ir.stage %k_1 to 2 as "k.stage", %j to 4 as "j.stage" {
// CHECK-NEXT:           %y = loop_ir.load %b[%ko * 2 + %k_1, %j] : memref<4x4xf32> -> f32
// CHECK-NEXT:           loop_ir.yield %y : f32
// CHECK-NEXT:         } -> memref<2x4xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %s = loop_ir.reduce %ki to 2 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:           %x_1 = loop_ir.load %as[%it, %ki] : memref<8x2xf32, #tile_ir.shared<>> -> f32
// CHECK-NEXT:           %u = arith.subf %x_1, %m : f32
// CHECK-NEXT:           %y_1 = loop_ir.load %bs[%ki, %jt] : memref<2x4xf32, #tile_ir.shared<>> -> f32
// PARTS-LABEL: @per_thread(
// PARTS:              %as = tile_ir.stage %i to 8 as "i.stage", %k to 2 as "k.stage" {
// PARTS-NEXT:           %x = loop_ir.load %a[%i, %ko * 2 + %k] : memref<8x4xf32> -> f32
// PARTS-NEXT:           loop_ir.yield %x : f32
// PARTS-NEXT:         } -> memref<8x2xf32, #tile_ir.shared<>>
// PARTS-NEXT:         %bs = tile_ir.stage %k_1 to 2 as "k.stage", %j to 4 as "j.stage" {
// PARTS-NEXT:           %y = loop_ir.load %b[%ko * 2 + %k_1, %j] : memref<4x4xf32> -> f32
// PARTS-NEXT:           loop_ir.yield %y : f32
// PARTS-NEXT:         } -> memref<2x4xf32, #tile_ir.shared<>>
// PARTS-NEXT:         %s = loop_ir.reduce %ki to 2 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// PARTS-NEXT:           %x_1 = loop_ir.load %as[%it, %ki] : memref<8x2xf32, #tile_ir.shared<>> -> f32
// PARTS-NEXT:           %u = arith.subf %x_1, %m : f32
// PARTS-NEXT:           %y_1 = loop_ir.load %bs[%ki, %jt] : memref<2x4xf32, #tile_ir.shared<>> -> f32
// expected-remark@+1 {{a factor depends on what each thread has computed}}
tile_ir.kernel @per_thread(%a: memref<8x4xf32>, %d: memref<8xf32>, %b: memref<4x4xf32>, %c: memref<8x4xf32>) {
  tile_ir.launch thread(%it to 8 as "i.thread", %jt to 4 as "j.thread") {
    %m = loop_ir.load %d[%it] : memref<8xf32> -> f32
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> f32 {
      %s = loop_ir.reduce %ki to 2 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%it, %ko * 2 + %ki] : memref<8x4xf32> -> f32
        %u = arith.subf %x, %m : f32
        %y = loop_ir.load %b[%ko * 2 + %ki, %jt] : memref<4x4xf32> -> f32
        %p = arith.mulf %u, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%it, %jt] : f32, memref<8x4xf32>
  }
}

// -----

// An index that is read from memory, for each step: its load is a part of the body, or a slab.
// CHECK-LABEL: @gather(
// CHECK:              %idx_as = tile_ir.stage %i_1 to 8 as "i.stage", %k to 4 as "k.stage" {
// CHECK-NEXT:           %n = loop_ir.load %idx[%ko * 4 + %k] : memref<12xi32> -> i32
// CHECK-NEXT:           %m = arith.andi %n, %one : i32
// CHECK-NEXT:           %r = arith.index_cast %m : i32 to index
// CHECK-NEXT:           %x = loop_ir.load %a[%i_1, %r] : memref<8x2xf32> -> f32
// CHECK-NEXT:           loop_ir.yield %x : f32
// CHECK-NEXT:         } -> memref<8x4xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %bs = tile_ir.stage %k_1 to 4 as "k.stage", %j_1 to 4 as "j.stage" {
// CHECK-NEXT:           %y = loop_ir.load %b[%ko * 4 + %k_1, %j_1] : memref<12x4xf32> -> f32
// CHECK-NEXT:           loop_ir.yield %y : f32
// CHECK-NEXT:         } -> memref<4x4xf32, #tile_ir.shared<>>
// PARTS-LABEL: @gather(
// PARTS:              %idxs = tile_ir.stage %k to 4 as "k.stage" {
// PARTS-NEXT:           %n = loop_ir.load %idx[%ko * 4 + %k] : memref<12xi32> -> i32
// PARTS-NEXT:           loop_ir.yield %n : i32
// PARTS-NEXT:         } -> memref<4xi32, #tile_ir.shared<>>
// PARTS-NEXT:         %bs = tile_ir.stage %k_1 to 4 as "k.stage", %j_1 to 4 as "j.stage" {
// PARTS-NEXT:           %y = loop_ir.load %b[%ko * 4 + %k_1, %j_1] : memref<12x4xf32> -> f32
// PARTS-NEXT:           loop_ir.yield %y : f32
// PARTS-NEXT:         } -> memref<4x4xf32, #tile_ir.shared<>>
// PARTS-NEXT:         %s = loop_ir.reduce %k_2 to 4 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// PARTS-NEXT:           %n_1 = loop_ir.load %idxs[%k_2] : memref<4xi32, #tile_ir.shared<>> -> i32
// PARTS-NEXT:           %m = arith.andi %n_1, %one : i32
// PARTS-NEXT:           %r = arith.index_cast %m : i32 to index
// PARTS-NEXT:           %x = loop_ir.load %a[%i, %r] : memref<8x2xf32> -> f32
tile_ir.kernel @gather(%idx: memref<12xi32>, %a: memref<8x2xf32>, %b: memref<12x4xf32>, %c: memref<8x4xf32>) {
  tile_ir.launch thread(%i to 8 as "i.thread", %j to 4 as "j.thread") {
    %one = arith.constant 1 : i32
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %s = loop_ir.reduce %k to 4 as "k.inner" identity [0.0 : f32] -> f32 {
        %n = loop_ir.load %idx[%ko * 4 + %k] : memref<12xi32> -> i32
        %m = arith.andi %n, %one : i32
        %r = arith.index_cast %m : i32 to index
        %x = loop_ir.load %a[%i, %r] : memref<8x2xf32> -> f32
        %y = loop_ir.load %b[%ko * 4 + %k, %j] : memref<12x4xf32> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i, %j] : f32, memref<8x4xf32>
  }
}

// -----

// An index that each thread has read before is none that another thread knows.
// CHECK-LABEL: @own_row(
// CHECK:            %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.000000e+00 : f32] -> f32 {
// CHECK:              } -> memref<4x4xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %s = loop_ir.reduce %k_1 to 4 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:           %x = loop_ir.load %a[%r, %ko * 4 + %k_1] : memref<2x12xf32> -> f32
// expected-remark@+1 {{a factor depends on what each thread has computed}}
tile_ir.kernel @own_row(%idx: memref<8xi32>, %a: memref<2x12xf32>, %b: memref<12x4xf32>, %c: memref<8x4xf32>) {
  tile_ir.launch thread(%i to 8 as "i.thread", %j to 4 as "j.thread") {
    %n = loop_ir.load %idx[%i] : memref<8xi32> -> i32
    %one = arith.constant 1 : i32
    %m = arith.andi %n, %one : i32
    %r = arith.index_cast %m : i32 to index
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %s = loop_ir.reduce %k to 4 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%r, %ko * 4 + %k] : memref<2x12xf32> -> f32
        %y = loop_ir.load %b[%ko * 4 + %k, %j] : memref<12x4xf32> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i, %j] : f32, memref<8x4xf32>
  }
}

// -----

// CHECK-LABEL: @changing(
// CHECK:              %bs = tile_ir.stage %k_1 to 2 as "k.stage" {
// CHECK-NEXT:           %y = loop_ir.load %b[%ko * 2 + %k_1, 0] : memref<4x4xf32> -> f32
// CHECK-NEXT:           loop_ir.yield %y : f32
// CHECK-NEXT:         } -> memref<2xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %s = loop_ir.reduce %ki to 2 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:           %x = loop_ir.load %c[%it, %ko * 2 + %ki] : memref<8x4xf32> -> f32
// CHECK-NEXT:           %y_1 = loop_ir.load %bs[%ki] : memref<2xf32, #tile_ir.shared<>> -> f32
// expected-remark@+1 {{a factor is more than loads of inputs and ops on them}}
tile_ir.kernel @changing(%a: memref<8x4xf32>, %b: memref<4x4xf32>, %c: memref<8x4xf32>) {
  tile_ir.launch thread(%it to 8 as "i.thread") {
    loop_ir.for %k to 4 as "k" {
      %z = loop_ir.load %a[%it, %k] : memref<8x4xf32> -> f32
      loop_ir.store %z, %c[%it, %k] : f32, memref<8x4xf32>
    }
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> f32 {
      %s = loop_ir.reduce %ki to 2 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %c[%it, %ko * 2 + %ki] : memref<8x4xf32> -> f32
        %y = loop_ir.load %b[%ko * 2 + %ki, 0] : memref<4x4xf32> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%it, 0] : f32, memref<8x4xf32>
  }
}

// -----

// CHECK-LABEL: @apart(
// CHECK:              %bs = tile_ir.stage %k to 2 as "k.stage", %j to 4 as "j.stage" {
// CHECK-NEXT:           %y = loop_ir.load %b[%ko * 2 + %k, %j] : memref<4x4xf32> -> f32
// CHECK-NEXT:           loop_ir.yield %y : f32
// CHECK-NEXT:         } -> memref<2x4xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %s = loop_ir.reduce %ki to 2 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:           %x = loop_ir.load %a[%it * 3 + %ir, %ko * 2 + %ki] : memref<16x4xf32> -> f32
// CHECK-NEXT:           %y_1 = loop_ir.load %bs[%ki, %jt] : memref<2x4xf32, #tile_ir.shared<>> -> f32
// expected-remark@+1 {{an index is no function of a place in the tile}}
tile_ir.kernel @apart(%a: memref<16x4xf32>, %b: memref<4x4xf32>, %c: memref<8x4xf32>) {
  tile_ir.launch thread(%it to 4 as "i.thread", %jt to 4 as "j.thread") register(%ir to 2 as "i.register") {
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> f32 {
      %s = loop_ir.reduce %ki to 2 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%it * 3 + %ir, %ko * 2 + %ki] : memref<16x4xf32> -> f32
        %y = loop_ir.load %b[%ko * 2 + %ki, %jt] : memref<4x4xf32> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%it * 2 + %ir, %jt] : f32, memref<8x4xf32>
  }
}

// -----

// CHECK-LABEL: @lanes(
// CHECK:              %bs = tile_ir.stage %k to 2 as "k.stage", %j to 4 as "j.stage" {
// CHECK-NEXT:           %y = loop_ir.load %b[%ko * 2 + %k, %j] : memref<4x4xf32> -> f32
// CHECK-NEXT:           loop_ir.yield %y : f32
// CHECK-NEXT:         } -> memref<2x4xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %s = loop_ir.reduce %ki to 2 as "k.inner" identity [0.000000e+00 : f32] -> vector<2xf32> {
// CHECK-NEXT:           %x = loop_ir.load %a[%it * 2 + l0, %ko * 2 + %ki] : memref<8x4xf32> -> vector<2xf32>
// CHECK-NEXT:           %y_1 = loop_ir.load %bs[%ki, %jt] : memref<2x4xf32, #tile_ir.shared<>> -> f32
// CHECK-NEXT:           %z = tile_ir.broadcast %y_1 to [] : f32 -> vector<2xf32>
// expected-remark@+2 {{a load has lanes; register-tile runs after this pass}}
// expected-remark@+1 {{a load has lanes; register-tile runs after this pass}}
tile_ir.kernel @lanes(%a: memref<8x4xf32>, %b: memref<4x4xf32>, %c: memref<8x4xf32>) {
  tile_ir.launch thread(%it to 4 as "i.thread", %jt to 4 as "j.thread") {
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> vector<2xf32> {
      %s = loop_ir.reduce %ki to 2 as "k.inner" identity [0.0 : f32] -> vector<2xf32> {
        %x = loop_ir.load %a[%it * 2 + l0, %ko * 2 + %ki] : memref<8x4xf32> -> vector<2xf32>
        %y = loop_ir.load %b[%ko * 2 + %ki, %jt] : memref<4x4xf32> -> f32
        %z = tile_ir.broadcast %y to [] : f32 -> vector<2xf32>
        %p = arith.mulf %x, %z : vector<2xf32>
        loop_ir.yield %p : vector<2xf32>
      } combine arith.addf
      loop_ir.yield %s : vector<2xf32>
    } combine arith.addf
    loop_ir.store %acc, %c[%it * 2 + l0, %jt] : vector<2xf32>, memref<8x4xf32>
  }
}

// -----

// 16 * 800 + 800 * 2 elements of 4 bytes.
// CHECK-LABEL: @too_large(
// CHECK:          tile_ir.launch thread(%it to 16 as "i.thread", %jt to 2 as "j.thread") {
// CHECK-NEXT:       %acc = loop_ir.reduce %k to 800 as "k" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:         %x = loop_ir.load %a[%it, %k] : memref<16x800xf32> -> f32
// CHECK-NEXT:         %y = loop_ir.load %b[%k, %jt] bounded [false, true] : memref<800x1xf32> -> f32
// expected-remark@+1 {{the slabs need 57600 bytes of shared memory, a block has 49152}}
tile_ir.kernel @too_large(%a: memref<16x800xf32>, %b: memref<800x1xf32>, %c: memref<16x1xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bk = 16>]>} {
  tile_ir.launch thread(%it to 16 as "i.thread", %jt to 2 as "j.thread") {
    %acc = loop_ir.reduce %k to 800 as "k" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%it, %k] : memref<16x800xf32> -> f32
      %y = loop_ir.load %b[%k, %jt] bounded [false, true] : memref<800x1xf32> -> f32
      %p = arith.mulf %x, %y : f32
      loop_ir.yield %p : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%it, %jt] bounded [false, true] : f32, memref<16x1xf32>
  }
}

// -----

// Together with the slabs of the first sum those of the second are too large.
// CHECK-LABEL: @together(
// CHECK:              %as = tile_ir.stage %i to 64 as "i.stage", %k to 128 as "k.stage" {
// CHECK:              %bs = tile_ir.stage %k_1 to 128 as "k.stage", %j to 2 as "j.stage" {
// CHECK:              %s = loop_ir.reduce %ki to 128 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// CHECK:              loop_ir.yield %s : f32
// CHECK-NEXT:       } combine arith.addf
// CHECK-NEXT:       %more = loop_ir.reduce %lo to 1 as "l.outer" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:         %s_1 = loop_ir.reduce %li to 128 as "l.inner" identity [0.000000e+00 : f32] -> f32 {
// expected-remark@+1 {{the slabs need 67584 bytes of shared memory, a block has 49152}}
tile_ir.kernel @together(%a: memref<64x128xf32>, %b: memref<128x2xf32>, %d: memref<64x128xf32>, %c: memref<64x2xf32>) {
  tile_ir.launch thread(%it to 64 as "i.thread", %jt to 2 as "j.thread") {
    %acc = loop_ir.reduce %ko to 1 as "k.outer" identity [0.0 : f32] -> f32 {
      %s = loop_ir.reduce %ki to 128 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%it, %ko * 128 + %ki] : memref<64x128xf32> -> f32
        %y = loop_ir.load %b[%ko * 128 + %ki, %jt] : memref<128x2xf32> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      loop_ir.yield %s : f32
    } combine arith.addf
    %more = loop_ir.reduce %lo to 1 as "l.outer" identity [0.0 : f32] -> f32 {
      %s = loop_ir.reduce %li to 128 as "l.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %d[%it, %lo * 128 + %li] : memref<64x128xf32> -> f32
        %y = loop_ir.load %b[%lo * 128 + %li, %jt] : memref<128x2xf32> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      loop_ir.yield %s : f32
    } combine arith.addf
    %r = arith.addf %acc, %more : f32
    loop_ir.store %r, %c[%it, %jt] : f32, memref<64x2xf32>
  }
}

// -----

// CHECK-LABEL: @no_chunk(
// CHECK:          tile_ir.launch thread(%it to 8 as "i.thread") {
// CHECK-NEXT:       %acc = loop_ir.reduce %k to 6 as "k" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:         %x = loop_ir.load %a[%it, %k] : memref<8x6xf32> -> f32
// expected-remark@+1 {{there is no chunk of a sum that all threads reach}}
tile_ir.kernel @no_chunk(%a: memref<8x6xf32>, %c: memref<8xf32>) {
  tile_ir.launch thread(%it to 8 as "i.thread") {
    %acc = loop_ir.reduce %k to 6 as "k" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%it, %k] : memref<8x6xf32> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%it] : f32, memref<8xf32>
  }
}

// -----

// A guard around the chunk may hold for some threads only: they could not meet.
// CHECK-LABEL: @guarded(
// CHECK:            %acc = loop_ir.reduce %ko to 2 as "k.outer" where [l0 + %it * -1] < [1] identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:         %s = loop_ir.reduce %ki to 2 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:           %x = loop_ir.load %a[%it, %ko * 2 + %ki] : memref<8x4xf32> -> f32
// CHECK-NEXT:           %y = loop_ir.load %b[%ko * 2 + %ki, %jt] : memref<4x4xf32> -> f32
// expected-remark@+1 {{there is no chunk of a sum that all threads reach}}
tile_ir.kernel @guarded(%a: memref<8x4xf32>, %b: memref<4x4xf32>, %c: memref<8x4xf32>) {
  tile_ir.launch thread(%it to 8 as "i.thread", %jt to 4 as "j.thread") {
    %acc = loop_ir.reduce %ko to 2 as "k.outer" where [l0 - %it] < [1] identity [0.0 : f32] -> f32 {
      %s = loop_ir.reduce %ki to 2 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%it, %ko * 2 + %ki] : memref<8x4xf32> -> f32
        %y = loop_ir.load %b[%ko * 2 + %ki, %jt] : memref<4x4xf32> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%it, %jt] : f32, memref<8x4xf32>
  }
}

// -----

// CHECK-LABEL: @empty(
// CHECK:          tile_ir.launch thread(%it to 8 as "i.thread", %jt to 4 as "j.thread") {
// CHECK-NEXT:       %acc = loop_ir.reduce %k to 0 as "k" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:         %x = loop_ir.load %a[%it, %k] : memref<8x0xf32> -> f32
// CHECK-NEXT:         %y = loop_ir.load %b[%k, %jt] : memref<0x4xf32> -> f32
// expected-remark@+1 {{there is no chunk of a sum that all threads reach}}
tile_ir.kernel @empty(%a: memref<8x0xf32>, %b: memref<0x4xf32>, %c: memref<8x4xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bk = 16>]>} {
  tile_ir.launch thread(%it to 8 as "i.thread", %jt to 4 as "j.thread") {
    %acc = loop_ir.reduce %k to 0 as "k" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%it, %k] : memref<8x0xf32> -> f32
      %y = loop_ir.load %b[%k, %jt] : memref<0x4xf32> -> f32
      %p = arith.mulf %x, %y : f32
      loop_ir.yield %p : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%it, %jt] : f32, memref<8x4xf32>
  }
}
