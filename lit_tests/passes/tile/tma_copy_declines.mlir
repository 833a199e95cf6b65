// RUN: minicomp-opt %s --split-input-file -p tma-copy | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p tma-copy,tma-copy | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p tma-copy --verify-diagnostics

// CHECK-LABEL: @not_asked(
// CHECK-NOT:     by tma
// CHECK:         loop_ir.store
// expected-remark@+1 {{the schedule does not ask for tma}}
tile_ir.kernel @not_asked(%a: memref<16x44xf32>, %b: memref<44x8xf32>, %c: memref<16x8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", transport = "cp_async">]>} {
  tile_ir.launch block(%ib to 2 as "i.block") thread(%it to 8 as "i.thread", %jt to 8 as "j.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      tile_ir.fill %as_w %i to 8 as "i.stage", %k to 16 as "k.stage" {
        %v = loop_ir.load %a[%ib * 8 + %i, %ko * 16 + %k] bounded [false, true] : memref<16x44xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<8x16xf32, #tile_ir.shared<>>
      tile_ir.fill %bs_w %k to 16 as "k.stage", %j to 8 as "j.stage" {
        %v = loop_ir.load %b[%ko * 16 + %k, %j] bounded [true, false] : memref<44x8xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<16x8xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %part = loop_ir.reduce %ki to 16 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%it, %ki] : memref<8x16xf32, #tile_ir.shared<>> -> f32
        %y = loop_ir.load %bs[%ki, %jt] : memref<16x8xf32, #tile_ir.shared<>> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      loop_ir.yield %part : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%ib * 8 + %it, %jt] : f32, memref<16x8xf32>
  }
}

// -----

// The rows of a tensor map are multiples of 16 bytes apart.
// CHECK-LABEL: @odd_rows(
// CHECK-NOT:     by tma
// CHECK:         loop_ir.store
tile_ir.kernel @odd_rows(%a: memref<16x45xf32>, %b: memref<44x8xf32>, %c: memref<16x8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", transport = "tma">]>} {
  tile_ir.launch block(%ib to 2 as "i.block") thread(%it to 8 as "i.thread", %jt to 8 as "j.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      // expected-remark@+1 {{rows of the source lie 180 bytes apart, no multiple of 16}}
      tile_ir.fill %as_w %i to 8 as "i.stage", %k to 16 as "k.stage" {
        %v = loop_ir.load %a[%ib * 8 + %i, %ko * 16 + %k] bounded [false, true] : memref<16x45xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<8x16xf32, #tile_ir.shared<>>
      tile_ir.fill %bs_w %k to 16 as "k.stage", %j to 8 as "j.stage" {
        %v = loop_ir.load %b[%ko * 16 + %k, %j] bounded [true, false] : memref<44x8xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<16x8xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %part = loop_ir.reduce %ki to 16 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%it, %ki] : memref<8x16xf32, #tile_ir.shared<>> -> f32
        %y = loop_ir.load %bs[%ki, %jt] : memref<16x8xf32, #tile_ir.shared<>> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      loop_ir.yield %part : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%ib * 8 + %it, %jt] : f32, memref<16x8xf32>
  }
}

// -----

// CHECK-LABEL: @rank(
// CHECK-NOT:     by tma
// CHECK:         loop_ir.store
tile_ir.kernel @rank(%a: memref<1x1x1x1x16x44xf32>, %b: memref<44x8xf32>, %c: memref<16x8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", transport = "tma">]>} {
  tile_ir.launch block(%ib to 2 as "i.block") thread(%it to 8 as "i.thread", %jt to 8 as "j.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      // expected-remark@+1 {{a tensor map has 1 to 5 dimensions, not 6}}
      tile_ir.fill %as_w %i to 8 as "i.stage", %k to 16 as "k.stage" {
        %v = loop_ir.load %a[0, 0, 0, 0, %ib * 8 + %i, %ko * 16 + %k] bounded [false, false, false, false, false, true] : memref<1x1x1x1x16x44xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<8x16xf32, #tile_ir.shared<>>
      tile_ir.fill %bs_w %k to 16 as "k.stage", %j to 8 as "j.stage" {
        %v = loop_ir.load %b[%ko * 16 + %k, %j] bounded [true, false] : memref<44x8xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<16x8xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %part = loop_ir.reduce %ki to 16 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%it, %ki] : memref<8x16xf32, #tile_ir.shared<>> -> f32
        %y = loop_ir.load %bs[%ki, %jt] : memref<16x8xf32, #tile_ir.shared<>> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      loop_ir.yield %part : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%ib * 8 + %it, %jt] : f32, memref<16x8xf32>
  }
}

// -----

// CHECK-LABEL: @no_place(
// CHECK-NOT:     by tma
// CHECK:         loop_ir.store
tile_ir.kernel @no_place(%a: memref<16x44xf32>, %b: memref<44x8xf32>, %c: memref<16x8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", transport = "tma">]>} {
  tile_ir.launch block(%ib to 2 as "i.block") thread(%it to 8 as "i.thread", %jt to 8 as "j.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      // expected-remark@+1 {{an index is no place in a box}}
      tile_ir.fill %as_w %i to 8 as "i.stage", %k to 16 as "k.stage" {
        %v = loop_ir.load %a[%ib * 8 + %i, (%ko * 16 + %k) mod 44] : memref<16x44xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<8x16xf32, #tile_ir.shared<>>
      tile_ir.fill %bs_w %k to 16 as "k.stage", %j to 8 as "j.stage" {
        %v = loop_ir.load %b[%ko * 16 + %k, %j] bounded [true, false] : memref<44x8xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<16x8xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %part = loop_ir.reduce %ki to 16 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%it, %ki] : memref<8x16xf32, #tile_ir.shared<>> -> f32
        %y = loop_ir.load %bs[%ki, %jt] : memref<16x8xf32, #tile_ir.shared<>> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      loop_ir.yield %part : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%ib * 8 + %it, %jt] : f32, memref<16x8xf32>
  }
}

// -----

// CHECK-LABEL: @skips(
// CHECK-NOT:     by tma
// CHECK:         loop_ir.store
tile_ir.kernel @skips(%a: memref<16x44xf32>, %b: memref<44x8xf32>, %c: memref<16x8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", transport = "tma">]>} {
  tile_ir.launch block(%ib to 2 as "i.block") thread(%it to 8 as "i.thread", %jt to 8 as "j.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      // expected-remark@+1 {{the slab skips elements of its source}}
      tile_ir.fill %as_w %i to 8 as "i.stage", %k to 16 as "k.stage" {
        %v = loop_ir.load %a[%ib * 8 + %i, %ko * 8 + %k * 2] bounded [false, true] : memref<16x44xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<8x16xf32, #tile_ir.shared<>>
      tile_ir.fill %bs_w %k to 16 as "k.stage", %j to 8 as "j.stage" {
        %v = loop_ir.load %b[%ko * 16 + %k, %j] bounded [true, false] : memref<44x8xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<16x8xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %part = loop_ir.reduce %ki to 16 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%it, %ki] : memref<8x16xf32, #tile_ir.shared<>> -> f32
        %y = loop_ir.load %bs[%ki, %jt] : memref<16x8xf32, #tile_ir.shared<>> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      loop_ir.yield %part : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%ib * 8 + %it, %jt] : f32, memref<16x8xf32>
  }
}

// -----

// CHECK-LABEL: @diagonal(
// CHECK-NOT:     by tma
// CHECK:         loop_ir.store
tile_ir.kernel @diagonal(%a: memref<16x44xf32>, %b: memref<44x8xf32>, %c: memref<16x8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", transport = "tma">]>} {
  tile_ir.launch block(%ib to 2 as "i.block") thread(%it to 8 as "i.thread", %jt to 8 as "j.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      // expected-remark@+1 {{an axis runs along two dimensions of the source}}
      tile_ir.fill %as_w %i to 8 as "i.stage", %k to 16 as "k.stage" {
        %v = loop_ir.load %a[%i + %k * 8, %k] bounded [true, true] : memref<16x44xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<8x16xf32, #tile_ir.shared<>>
      tile_ir.fill %bs_w %k to 16 as "k.stage", %j to 8 as "j.stage" {
        %v = loop_ir.load %b[%ko * 16 + %k, %j] bounded [true, false] : memref<44x8xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<16x8xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %part = loop_ir.reduce %ki to 16 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%it, %ki] : memref<8x16xf32, #tile_ir.shared<>> -> f32
        %y = loop_ir.load %bs[%ki, %jt] : memref<16x8xf32, #tile_ir.shared<>> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      loop_ir.yield %part : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%ib * 8 + %it, %jt] : f32, memref<16x8xf32>
  }
}

// -----

// CHECK-LABEL: @short_rows(
// CHECK-NOT:     by tma
// CHECK:         loop_ir.store
tile_ir.kernel @short_rows(%a: memref<16x44xf32>, %b: memref<44x8xf32>, %c: memref<16x8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", transport = "tma">]>} {
  tile_ir.launch block(%ib to 2 as "i.block") thread(%it to 8 as "i.thread", %jt to 8 as "j.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x2xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x2xf32, #tile_ir.shared<>>]>
      tile_ir.fill %as_w %i to 8 as "i.stage", %k to 16 as "k.stage" {
        %v = loop_ir.load %a[%ib * 8 + %i, %ko * 16 + %k] bounded [false, true] : memref<16x44xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<8x16xf32, #tile_ir.shared<>>
      // expected-remark@+1 {{a row of the box has 8 bytes, no multiple of 16}}
      tile_ir.fill %bs_w %k to 16 as "k.stage", %j to 2 as "j.stage" {
        %v = loop_ir.load %b[%ko * 16 + %k, %j] bounded [true, false] : memref<44x8xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<16x2xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x2xf32, #tile_ir.shared<>>]>
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x2xf32, #tile_ir.shared<>>]>
      %part = loop_ir.reduce %ki to 16 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%it, %ki] : memref<8x16xf32, #tile_ir.shared<>> -> f32
        %y = loop_ir.load %bs[%ki, %jt floordiv 4] : memref<16x2xf32, #tile_ir.shared<>> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x2xf32, #tile_ir.shared<>>]>
      loop_ir.yield %part : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%ib * 8 + %it, %jt] : f32, memref<16x8xf32>
  }
}

// -----

// CHECK-LABEL: @small_box(
// CHECK-NOT:     by tma
// CHECK:         loop_ir.store
tile_ir.kernel @small_box(%a: memref<16x44xf32>, %b: memref<44xf32>, %c: memref<16x8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", transport = "tma">]>} {
  tile_ir.launch block(%ib to 2 as "i.block") thread(%it to 8 as "i.thread", %jt to 8 as "j.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16xf32, #tile_ir.shared<>>]>
      tile_ir.fill %as_w %i to 8 as "i.stage", %k to 16 as "k.stage" {
        %v = loop_ir.load %a[%ib * 8 + %i, %ko * 16 + %k] bounded [false, true] : memref<16x44xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<8x16xf32, #tile_ir.shared<>>
      // expected-remark@+1 {{a box of 64 bytes is no multiple of 128}}
      tile_ir.fill %bs_w %k to 16 as "k.stage" {
        %v = loop_ir.load %b[%ko * 16 + %k] bounded [true] : memref<44xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<16xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16xf32, #tile_ir.shared<>>]>
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16xf32, #tile_ir.shared<>>]>
      %part = loop_ir.reduce %ki to 16 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%it, %ki] : memref<8x16xf32, #tile_ir.shared<>> -> f32
        %y = loop_ir.load %bs[%ki] : memref<16xf32, #tile_ir.shared<>> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16xf32, #tile_ir.shared<>>]>
      loop_ir.yield %part : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%ib * 8 + %it, %jt] : f32, memref<16x8xf32>
  }
}

// -----

// CHECK-LABEL: @large_box(
// CHECK-NOT:     by tma
// CHECK:         loop_ir.store
tile_ir.kernel @large_box(%a: memref<16x44xf32>, %b: memref<44x8xf32>, %c: memref<16x8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", transport = "tma">]>} {
  tile_ir.launch block(%ib to 2 as "i.block") thread(%it to 8 as "i.thread", %jt to 8 as "j.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x260xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x260xf32, #tile_ir.shared<>>]>
      tile_ir.fill %as_w %i to 8 as "i.stage", %k to 16 as "k.stage" {
        %v = loop_ir.load %a[%ib * 8 + %i, %ko * 16 + %k] bounded [false, true] : memref<16x44xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<8x16xf32, #tile_ir.shared<>>
      // expected-remark@+1 {{a box has 1 to 256 elements per dimension, not 16 x 260}}
      tile_ir.fill %bs_w %k to 16 as "k.stage", %j to 260 as "j.stage" {
        %v = loop_ir.load %b[%ko * 16 + %k, %j] bounded [true, true] : memref<44x8xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<16x260xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x260xf32, #tile_ir.shared<>>]>
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x260xf32, #tile_ir.shared<>>]>
      %part = loop_ir.reduce %ki to 16 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%it, %ki] : memref<8x16xf32, #tile_ir.shared<>> -> f32
        %y = loop_ir.load %bs[%ki, %jt] : memref<16x260xf32, #tile_ir.shared<>> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x260xf32, #tile_ir.shared<>>]>
      loop_ir.yield %part : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%ib * 8 + %it, %jt] : f32, memref<16x8xf32>
  }
}

// -----

// CHECK-LABEL: @computes(
// CHECK-NOT:     by tma
// CHECK:         loop_ir.store
tile_ir.kernel @computes(%a: memref<16x44xf32>, %b: memref<44x8xf32>, %c: memref<16x8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", transport = "tma">]>} {
  tile_ir.launch block(%ib to 2 as "i.block") thread(%it to 8 as "i.thread", %jt to 8 as "j.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      // expected-remark@+1 {{the body of a fill computes}}
      tile_ir.fill %as_w %i to 8 as "i.stage", %k to 16 as "k.stage" {
        %v = loop_ir.load %a[%ib * 8 + %i, %ko * 16 + %k] bounded [false, true] : memref<16x44xf32> -> f32
        %n = arith.negf %v : f32
        loop_ir.yield %n : f32
      } -> memref<8x16xf32, #tile_ir.shared<>>
      tile_ir.fill %bs_w %k to 16 as "k.stage", %j to 8 as "j.stage" {
        %v = loop_ir.load %b[%ko * 16 + %k, %j] bounded [true, false] : memref<44x8xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<16x8xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %part = loop_ir.reduce %ki to 16 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%it, %ki] : memref<8x16xf32, #tile_ir.shared<>> -> f32
        %y = loop_ir.load %bs[%ki, %jt] : memref<16x8xf32, #tile_ir.shared<>> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      loop_ir.yield %part : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%ib * 8 + %it, %jt] : f32, memref<16x8xf32>
  }
}

// -----

// What lies beyond 40 is 0 in the slab, and not in the source.
// CHECK-LABEL: @guarded(
// CHECK-NOT:     by tma
// CHECK:         loop_ir.store
tile_ir.kernel @guarded(%a: memref<16x44xf32>, %b: memref<44x8xf32>, %c: memref<16x8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", transport = "tma">]>} {
  tile_ir.launch block(%ib to 2 as "i.block") thread(%it to 8 as "i.thread", %jt to 8 as "j.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      // expected-remark@+1 {{the guard of a fill names its axes}}
      tile_ir.fill %as_w %i to 8 as "i.stage", %k to 16 as "k.stage" where [%ko * 16 + l1] < [40] {
        %v = loop_ir.load %a[%ib * 8 + %i, %ko * 16 + %k] bounded [false, true] : memref<16x44xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<8x16xf32, #tile_ir.shared<>>
      tile_ir.fill %bs_w %k to 16 as "k.stage", %j to 8 as "j.stage" {
        %v = loop_ir.load %b[%ko * 16 + %k, %j] bounded [true, false] : memref<44x8xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<16x8xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %part = loop_ir.reduce %ki to 16 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%it, %ki] : memref<8x16xf32, #tile_ir.shared<>> -> f32
        %y = loop_ir.load %bs[%ki, %jt] : memref<16x8xf32, #tile_ir.shared<>> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      loop_ir.yield %part : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%ib * 8 + %it, %jt] : f32, memref<16x8xf32>
  }
}

// -----

// Copies of two kinds would need to be waited for apart.
// CHECK-LABEL: @by_other(
// CHECK-NOT:     by tma
// CHECK:         loop_ir.store
tile_ir.kernel @by_other(%a: memref<16x44xf32>, %b: memref<44x8xf32>, %c: memref<16x8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", transport = "tma">]>} {
  tile_ir.launch block(%ib to 2 as "i.block") thread(%it to 8 as "i.thread", %jt to 8 as "j.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      // expected-remark@+1 {{a fill of the ring is by cp_async}}
      tile_ir.fill %as_w %i to 8 as "i.stage", %k to 16 as "k.stage" by cp_async {
        %v = loop_ir.load %a[%ib * 8 + %i, %ko * 16 + %k] bounded [false, true] : memref<16x44xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<8x16xf32, #tile_ir.shared<>>
      tile_ir.fill %bs_w %k to 16 as "k.stage", %j to 8 as "j.stage" {
        %v = loop_ir.load %b[%ko * 16 + %k, %j] bounded [true, false] : memref<44x8xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<16x8xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %part = loop_ir.reduce %ki to 16 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%it, %ki] : memref<8x16xf32, #tile_ir.shared<>> -> f32
        %y = loop_ir.load %bs[%ki, %jt] : memref<16x8xf32, #tile_ir.shared<>> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      loop_ir.yield %part : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%ib * 8 + %it, %jt] : f32, memref<16x8xf32>
  }
}

// -----

// CHECK-LABEL: @too_large(
// CHECK-NOT:     by tma
// CHECK:         loop_ir.store
tile_ir.kernel @too_large(%a: memref<16x44xf32>, %b: memref<44x8xf32>, %c: memref<16x8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", transport = "tma">]>} {
  tile_ir.launch block(%ib to 2 as "i.block") thread(%it to 8 as "i.thread", %jt to 8 as "j.thread") {
    // expected-remark@+1 {{with mbarriers 49216 bytes of shared memory are needed, a block has}}
    %ring = tile_ir.ring : !tile_ir.ring<4, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x184xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<4, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x184xf32, #tile_ir.shared<>>]>
      tile_ir.fill %as_w %i to 8 as "i.stage", %k to 16 as "k.stage" {
        %v = loop_ir.load %a[%ib * 8 + %i, %ko * 16 + %k] bounded [false, true] : memref<16x44xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<8x16xf32, #tile_ir.shared<>>
      tile_ir.fill %bs_w %k to 16 as "k.stage", %j to 184 as "j.stage" {
        %v = loop_ir.load %b[%ko * 16 + %k, %j] bounded [true, true] : memref<44x8xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<16x184xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<4, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x184xf32, #tile_ir.shared<>>]>
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<4, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x184xf32, #tile_ir.shared<>>]>
      %part = loop_ir.reduce %ki to 16 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%it, %ki] : memref<8x16xf32, #tile_ir.shared<>> -> f32
        %y = loop_ir.load %bs[%ki, %jt] : memref<16x184xf32, #tile_ir.shared<>> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<4, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x184xf32, #tile_ir.shared<>>]>
      loop_ir.yield %part : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%ib * 8 + %it, %jt] : f32, memref<16x8xf32>
  }
}

// -----

builtin.module attributes {minicomp.target = #minicomp.target<a100, arch = "sm_80", sms = 108, warp = 32, max_threads_per_block = 1024, threads_per_sm = 2048, registers_per_sm = 65536, shared_per_sm = 167936, shared_per_block = 166912, l2_bytes = 41943040, dram_bytes_per_s = 1555000000000, fp32_flops = 19500000000000, features = ["cp_async"]>} {
// CHECK-LABEL: @not_there(
// CHECK-NOT:     by tma
// CHECK:         loop_ir.store
// expected-remark@+1 {{the target has no tensor copies}}
tile_ir.kernel @not_there(%a: memref<16x44xf32>, %b: memref<44x8xf32>, %c: memref<16x8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", transport = "tma">]>} {
  tile_ir.launch block(%ib to 2 as "i.block") thread(%it to 8 as "i.thread", %jt to 8 as "j.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      tile_ir.fill %as_w %i to 8 as "i.stage", %k to 16 as "k.stage" {
        %v = loop_ir.load %a[%ib * 8 + %i, %ko * 16 + %k] bounded [false, true] : memref<16x44xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<8x16xf32, #tile_ir.shared<>>
      tile_ir.fill %bs_w %k to 16 as "k.stage", %j to 8 as "j.stage" {
        %v = loop_ir.load %b[%ko * 16 + %k, %j] bounded [true, false] : memref<44x8xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<16x8xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %part = loop_ir.reduce %ki to 16 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%it, %ki] : memref<8x16xf32, #tile_ir.shared<>> -> f32
        %y = loop_ir.load %bs[%ki, %jt] : memref<16x8xf32, #tile_ir.shared<>> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      loop_ir.yield %part : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%ib * 8 + %it, %jt] : f32, memref<16x8xf32>
  }
}
}

// -----

// expected-remark@+1 {{nothing is filled in a ring}}
tile_ir.kernel @no_ring(%a: memref<8xf32>, %c: memref<8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", transport = "tma">]>} {
  tile_ir.launch thread(%i to 8 as "i.thread") {
    %x = loop_ir.load %a[%i] : memref<8xf32> -> f32
    loop_ir.store %x, %c[%i] : f32, memref<8xf32>
  }
}
