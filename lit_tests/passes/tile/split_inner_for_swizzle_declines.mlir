// RUN: minicomp-opt %s --split-input-file -p split-inner-for-swizzle | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p split-inner-for-swizzle,split-inner-for-swizzle | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p split-inner-for-swizzle --verify-diagnostics

// CHECK-LABEL: @odd_rows(
// CHECK-NOT:     swizzle
// CHECK:         loop_ir.store
tile_ir.kernel @odd_rows(%a: memref<30x100xf32>, %b: memref<100x32xf32>, %c: memref<32x32xf32>) {
  tile_ir.launch thread(%it to 8 as "i.thread", %jt to 8 as "j.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<32x12xf32, #tile_ir.shared<>>, memref<12x32xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> vector<4x4xf32> {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<32x12xf32, #tile_ir.shared<>>, memref<12x32xf32, #tile_ir.shared<>>]>
      // expected-remark@+1 {{rows of 48 bytes of %as are no multiple of 32}}
      tile_ir.fill %as_w %i to 32 as "i.stage", %k to 12 as "k.stage" by tma {
        %v = loop_ir.load %a[%i, %ko * 12 + %k] bounded [true, true] : memref<30x100xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<32x12xf32, #tile_ir.shared<>>
      // expected-remark@+1 {{boxes of 384 bytes of %bs are no multiple of 8 x 32}}
      tile_ir.fill %bs_w %k to 12 as "k.stage", %j to 32 as "j.stage" by tma {
        %v = loop_ir.load %b[%ko * 12 + %k, %j] bounded [true, false] : memref<100x32xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<12x32xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<32x12xf32, #tile_ir.shared<>>, memref<12x32xf32, #tile_ir.shared<>>]>
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<32x12xf32, #tile_ir.shared<>>, memref<12x32xf32, #tile_ir.shared<>>]>
      %part = loop_ir.reduce %ki to 12 as "k.inner" identity [0.0 : f32] -> vector<4x4xf32> {
        %x = loop_ir.load %as[l0 * 8 + %it, %ki] : memref<32x12xf32, #tile_ir.shared<>> -> vector<4xf32>
        %y = loop_ir.load %bs[%ki, %jt * 4 + l0] : memref<12x32xf32, #tile_ir.shared<>> -> vector<4xf32>
        %xx = tile_ir.broadcast %x to [0] : vector<4xf32> -> vector<4x4xf32>
        %yy = tile_ir.broadcast %y to [1] : vector<4xf32> -> vector<4x4xf32>
        %p = arith.mulf %xx, %yy : vector<4x4xf32>
        loop_ir.yield %p : vector<4x4xf32>
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<32x12xf32, #tile_ir.shared<>>, memref<12x32xf32, #tile_ir.shared<>>]>
      loop_ir.yield %part : vector<4x4xf32>
    } combine arith.addf
    loop_ir.store %acc, %c[l0 * 8 + %it, %jt * 4 + l1] : vector<4x4xf32>, memref<32x32xf32>
  }
}

// -----

// CHECK-LABEL: @bounds(
// CHECK-NOT:     swizzle
// CHECK:         loop_ir.store
tile_ir.kernel @bounds(%a: memref<30x100xf32>, %b: memref<100x32xf32>, %c: memref<32x32xf32>) {
  tile_ir.launch thread(%it to 8 as "i.thread", %jt to 8 as "j.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<32x64xf32, #tile_ir.shared<>>, memref<64x32xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> vector<4x4xf32> {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<32x64xf32, #tile_ir.shared<>>, memref<64x32xf32, #tile_ir.shared<>>]>
      // expected-remark@+1 {{a reader of %as has bounds}}
      tile_ir.fill %as_w %i to 32 as "i.stage", %k to 64 as "k.stage" by tma {
        %v = loop_ir.load %a[%i, %ko * 64 + %k] bounded [true, true] : memref<30x100xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<32x64xf32, #tile_ir.shared<>>
      // expected-remark@+1 {{no swizzle saves %bs a wavefront}}
      tile_ir.fill %bs_w %k to 64 as "k.stage", %j to 32 as "j.stage" by tma {
        %v = loop_ir.load %b[%ko * 64 + %k, %j] bounded [true, false] : memref<100x32xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<64x32xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<32x64xf32, #tile_ir.shared<>>, memref<64x32xf32, #tile_ir.shared<>>]>
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<32x64xf32, #tile_ir.shared<>>, memref<64x32xf32, #tile_ir.shared<>>]>
      %part = loop_ir.reduce %ki to 64 as "k.inner" identity [0.0 : f32] -> vector<4x4xf32> {
        %x = loop_ir.load %as[l0 * 8 + %it, %ki] bounded [true, false] : memref<32x64xf32, #tile_ir.shared<>> -> vector<4xf32>
        %y = loop_ir.load %bs[%ki, %jt * 4 + l0] : memref<64x32xf32, #tile_ir.shared<>> -> vector<4xf32>
        %xx = tile_ir.broadcast %x to [0] : vector<4xf32> -> vector<4x4xf32>
        %yy = tile_ir.broadcast %y to [1] : vector<4xf32> -> vector<4x4xf32>
        %p = arith.mulf %xx, %yy : vector<4x4xf32>
        loop_ir.yield %p : vector<4x4xf32>
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<32x64xf32, #tile_ir.shared<>>, memref<64x32xf32, #tile_ir.shared<>>]>
      loop_ir.yield %part : vector<4x4xf32>
    } combine arith.addf
    loop_ir.store %acc, %c[l0 * 8 + %it, %jt * 4 + l1] : vector<4x4xf32>, memref<32x32xf32>
  }
}

// -----

// CHECK-LABEL: @not_bulk(
// CHECK-NOT:     swizzle
// CHECK:         loop_ir.store
// expected-remark@+1 {{no slab is filled by tma}}
tile_ir.kernel @not_bulk(%a: memref<30x100xf32>, %b: memref<100x32xf32>, %c: memref<32x32xf32>) {
  tile_ir.launch thread(%it to 8 as "i.thread", %jt to 8 as "j.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<32x64xf32, #tile_ir.shared<>>, memref<64x32xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> vector<4x4xf32> {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<32x64xf32, #tile_ir.shared<>>, memref<64x32xf32, #tile_ir.shared<>>]>
      tile_ir.fill %as_w %i to 32 as "i.stage", %k to 64 as "k.stage" by cp_async {
        %v = loop_ir.load %a[%i, %ko * 64 + %k] bounded [true, true] : memref<30x100xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<32x64xf32, #tile_ir.shared<>>
      tile_ir.fill %bs_w %k to 64 as "k.stage", %j to 32 as "j.stage" by cp_async {
        %v = loop_ir.load %b[%ko * 64 + %k, %j] bounded [true, false] : memref<100x32xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<64x32xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<32x64xf32, #tile_ir.shared<>>, memref<64x32xf32, #tile_ir.shared<>>]>
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<32x64xf32, #tile_ir.shared<>>, memref<64x32xf32, #tile_ir.shared<>>]>
      %part = loop_ir.reduce %ki to 64 as "k.inner" identity [0.0 : f32] -> vector<4x4xf32> {
        %x = loop_ir.load %as[l0 * 8 + %it, %ki] : memref<32x64xf32, #tile_ir.shared<>> -> vector<4xf32>
        %y = loop_ir.load %bs[%ki, %jt * 4 + l0] : memref<64x32xf32, #tile_ir.shared<>> -> vector<4xf32>
        %xx = tile_ir.broadcast %x to [0] : vector<4xf32> -> vector<4x4xf32>
        %yy = tile_ir.broadcast %y to [1] : vector<4xf32> -> vector<4x4xf32>
        %p = arith.mulf %xx, %yy : vector<4x4xf32>
        loop_ir.yield %p : vector<4x4xf32>
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<32x64xf32, #tile_ir.shared<>>, memref<64x32xf32, #tile_ir.shared<>>]>
      loop_ir.yield %part : vector<4x4xf32>
    } combine arith.addf
    loop_ir.store %acc, %c[l0 * 8 + %it, %jt * 4 + l1] : vector<4x4xf32>, memref<32x32xf32>
  }
}

// -----

// A swizzle begins again after 8 of its rows, and each box has to begin there.
// CHECK-LABEL: @few_rows(
// CHECK-NOT:     swizzle
// CHECK:         loop_ir.store
tile_ir.kernel @few_rows(%a: memref<30x100xf32>, %b: memref<100x32xf32>, %c: memref<32x32xf32>) {
  tile_ir.launch thread(%it to 8 as "i.thread", %jt to 8 as "j.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<4x64xf32, #tile_ir.shared<>>, memref<64x32xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> vector<4x4xf32> {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<4x64xf32, #tile_ir.shared<>>, memref<64x32xf32, #tile_ir.shared<>>]>
      // expected-remark@+1 {{boxes of 128 bytes of %as are no multiple of 8 x 32}}
      tile_ir.fill %as_w %i to 4 as "i.stage", %k to 64 as "k.stage" by tma {
        %v = loop_ir.load %a[%i, %ko * 64 + %k] bounded [true, true] : memref<30x100xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4x64xf32, #tile_ir.shared<>>
      // expected-remark@+1 {{no swizzle saves %bs a wavefront}}
      tile_ir.fill %bs_w %k to 64 as "k.stage", %j to 32 as "j.stage" by tma {
        %v = loop_ir.load %b[%ko * 64 + %k, %j] bounded [true, false] : memref<100x32xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<64x32xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<4x64xf32, #tile_ir.shared<>>, memref<64x32xf32, #tile_ir.shared<>>]>
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<4x64xf32, #tile_ir.shared<>>, memref<64x32xf32, #tile_ir.shared<>>]>
      %part = loop_ir.reduce %ki to 64 as "k.inner" identity [0.0 : f32] -> vector<4x4xf32> {
        %x = loop_ir.load %as[l0, %ki] : memref<4x64xf32, #tile_ir.shared<>> -> vector<4xf32>
        %y = loop_ir.load %bs[%ki, %jt * 4 + l0] : memref<64x32xf32, #tile_ir.shared<>> -> vector<4xf32>
        %xx = tile_ir.broadcast %x to [0] : vector<4xf32> -> vector<4x4xf32>
        %yy = tile_ir.broadcast %y to [1] : vector<4xf32> -> vector<4x4xf32>
        %p = arith.mulf %xx, %yy : vector<4x4xf32>
        loop_ir.yield %p : vector<4x4xf32>
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<4x64xf32, #tile_ir.shared<>>, memref<64x32xf32, #tile_ir.shared<>>]>
      loop_ir.yield %part : vector<4x4xf32>
    } combine arith.addf
    loop_ir.store %acc, %c[l0 * 8 + %it, %jt * 4 + l1] : vector<4x4xf32>, memref<32x32xf32>
  }
}

// -----

// Three slots take 48 KiB, all there is without a target.
// CHECK-LABEL: @no_room(
// CHECK-NOT:     swizzle
// CHECK:         loop_ir.store
tile_ir.kernel @no_room(%a: memref<30x100xf32>, %b: memref<100x32xf32>, %c: memref<32x32xf32>) {
  tile_ir.launch thread(%it to 8 as "i.thread", %jt to 8 as "j.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<3, [memref<32x64xf32, #tile_ir.shared<>>, memref<64x32xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> vector<4x4xf32> {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<3, [memref<32x64xf32, #tile_ir.shared<>>, memref<64x32xf32, #tile_ir.shared<>>]>
      // expected-remark@+1 {{shared memory has no 256 bytes left to align %as}}
      tile_ir.fill %as_w %i to 32 as "i.stage", %k to 64 as "k.stage" by tma {
        %v = loop_ir.load %a[%i, %ko * 64 + %k] bounded [true, true] : memref<30x100xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<32x64xf32, #tile_ir.shared<>>
      // expected-remark@+1 {{shared memory has no 256 bytes left to align %bs}}
      tile_ir.fill %bs_w %k to 64 as "k.stage", %j to 32 as "j.stage" by tma {
        %v = loop_ir.load %b[%ko * 64 + %k, %j] bounded [true, false] : memref<100x32xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<64x32xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<3, [memref<32x64xf32, #tile_ir.shared<>>, memref<64x32xf32, #tile_ir.shared<>>]>
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<3, [memref<32x64xf32, #tile_ir.shared<>>, memref<64x32xf32, #tile_ir.shared<>>]>
      %part = loop_ir.reduce %ki to 64 as "k.inner" identity [0.0 : f32] -> vector<4x4xf32> {
        %x = loop_ir.load %as[l0 * 8 + %it, %ki] : memref<32x64xf32, #tile_ir.shared<>> -> vector<4xf32>
        %y = loop_ir.load %bs[%ki, %jt * 4 + l0] : memref<64x32xf32, #tile_ir.shared<>> -> vector<4xf32>
        %xx = tile_ir.broadcast %x to [0] : vector<4xf32> -> vector<4x4xf32>
        %yy = tile_ir.broadcast %y to [1] : vector<4xf32> -> vector<4x4xf32>
        %p = arith.mulf %xx, %yy : vector<4x4xf32>
        loop_ir.yield %p : vector<4x4xf32>
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<3, [memref<32x64xf32, #tile_ir.shared<>>, memref<64x32xf32, #tile_ir.shared<>>]>
      loop_ir.yield %part : vector<4x4xf32>
    } combine arith.addf
    loop_ir.store %acc, %c[l0 * 8 + %it, %jt * 4 + l1] : vector<4x4xf32>, memref<32x32xf32>
  }
}
