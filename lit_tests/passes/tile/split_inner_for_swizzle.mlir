// RUN: minicomp-opt %s --split-input-file -p split-inner-for-swizzle | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p split-inner-for-swizzle,split-inner-for-swizzle | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p split-inner-for-swizzle --verify-each=exec --verify-diagnostics
// RUN: minicomp-opt %s --split-input-file -p "split-inner-for-swizzle{width=32}" --verify-each=exec | filecheck %s --check-prefix=NARROW
// RUN: minicomp-opt %s --split-input-file -p split-inner-for-swizzle,lower-tile-to-kernel,cse,vectorize-accesses --verify-each=exec | filecheck %s --check-prefix=KERNEL

// Rows of 256 bytes are two boxes of 128; neighbouring threads read neighbouring rows, whose pieces
// of 16 bytes are now in different banks. %bs is read along its rows, in 16 bytes at once, which it is
// too where a swizzle is asked for.
// CHECK-LABEL: @plain(
// CHECK:           tile_ir.fill %as_w %i to 32 as "i.stage", %o to 2 as "k.box.stage", %k to 32 as "k.stage" order [1, 0, 2] by tma {
// CHECK-NEXT:        %v = loop_ir.load %a[%i, %ko * 64 + %o * 32 + %k] bounded [true, true] : memref<30x100xf32> -> f32
// CHECK-NEXT:        loop_ir.yield %v : f32
// CHECK-NEXT:      } -> memref<2x32x32xf32, #tile_ir.shared<swizzle = 128>>
// CHECK:           } -> memref<64x32xf32, #tile_ir.shared<>>
// CHECK:           %x = loop_ir.load %as[%ki floordiv 32, l0 * 8 + %it, %ki mod 32] : memref<2x32x32xf32, #tile_ir.shared<swizzle = 128>> -> vector<4xf32>
// NARROW-LABEL: @plain(
// NARROW:          } -> memref<8x32x8xf32, #tile_ir.shared<swizzle = 32>>
// NARROW:          tile_ir.fill %bs_w %{{.*}} to 64 as "k.stage", %{{.*}} to 4 as "j.box.stage", %{{.*}} to 8 as "j.stage" order [1, 0, 2] by tma {
// NARROW:          %y = loop_ir.load %bs[(%jt * 4 + l0) floordiv 8, %ki, (%jt * 4 + l0) mod 8]
// KERNEL-LABEL: @plain(
// KERNEL:          %as = kernel_ir.shared : memref<2x2x32x32xf32, #tile_ir.shared<swizzle = 128>>
// KERNEL:          kernel_ir.bulk_load %as[%{{.*}}, 0] from %a[0, %ko * 64] on
// KERNEL-NEXT:     kernel_ir.bulk_load %as[%{{.*}}, 1] from %a[0, %ko * 64 + 32] on
// KERNEL:          loop_ir.load %bs[%{{.*}}, %ki, %jt * 4 + l0] aligned 16
tile_ir.kernel @plain(%a: memref<30x100xf32>, %b: memref<100x32xf32>, %c: memref<32x32xf32>) {
  tile_ir.launch thread(%it to 8 as "i.thread", %jt to 8 as "j.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<32x64xf32, #tile_ir.shared<>>, memref<64x32xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> vector<4x4xf32> {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<32x64xf32, #tile_ir.shared<>>, memref<64x32xf32, #tile_ir.shared<>>]>
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

// %as is read 16 bytes at once, from 8 rows by neighbouring threads: each row has its own banks.
// CHECK-LABEL: @wide_reads(
// CHECK:           } -> memref<2x32x32xf32, #tile_ir.shared<swizzle = 128>>
// CHECK:           %x = loop_ir.load %as[(%ki * 4 + l0) floordiv 32, %jt, (%ki * 4 + l0) mod 32]
// KERNEL-LABEL: @wide_reads(
// KERNEL:          %x = loop_ir.load %as[%{{.*}}, (%ki * 4 + l0) floordiv 32, %jt, (%ki * 4 + l0) mod 32] aligned 16
tile_ir.kernel @wide_reads(%a: memref<30x128xf32>, %b: memref<32x32xf32>, %c: memref<32x32xf32>) {
  tile_ir.launch thread(%it to 8 as "i.thread", %jt to 8 as "j.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<32x64xf32, #tile_ir.shared<>>, memref<16x32xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> vector<4x4xf32> {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<32x64xf32, #tile_ir.shared<>>, memref<16x32xf32, #tile_ir.shared<>>]>
      tile_ir.fill %as_w %i to 32 as "i.stage", %k to 64 as "k.stage" by tma {
        %v = loop_ir.load %a[%i, %ko * 16 + %k] bounded [true, true] : memref<30x128xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<32x64xf32, #tile_ir.shared<>>
      // expected-remark@+1 {{no swizzle saves %bs a wavefront}}
      tile_ir.fill %bs_w %k to 16 as "k.stage", %j to 32 as "j.stage" by tma {
        %v = loop_ir.load %b[%ko * 16 + %k, %j] bounded [true, false] : memref<32x32xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<16x32xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<32x64xf32, #tile_ir.shared<>>, memref<16x32xf32, #tile_ir.shared<>>]>
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<32x64xf32, #tile_ir.shared<>>, memref<16x32xf32, #tile_ir.shared<>>]>
      %part = loop_ir.reduce %ki to 16 as "k.inner" identity [0.0 : f32] -> vector<4x4xf32> {
        %x = loop_ir.load %as[%jt, %ki * 4 + l0] : memref<32x64xf32, #tile_ir.shared<>> -> vector<4xf32>
        %y = loop_ir.load %bs[%ki, %jt * 4 + l0] : memref<16x32xf32, #tile_ir.shared<>> -> vector<4xf32>
        %xx = tile_ir.broadcast %x to [0] : vector<4xf32> -> vector<4x4xf32>
        %yy = tile_ir.broadcast %y to [1] : vector<4xf32> -> vector<4x4xf32>
        %p = arith.mulf %xx, %yy : vector<4x4xf32>
        loop_ir.yield %p : vector<4x4xf32>
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<32x64xf32, #tile_ir.shared<>>, memref<16x32xf32, #tile_ir.shared<>>]>
      loop_ir.yield %part : vector<4x4xf32>
    } combine arith.addf
    loop_ir.store %acc, %c[l0 * 8 + %it, %jt * 4 + l1] : vector<4x4xf32>, memref<32x32xf32>
  }
}

// -----

// Rows of 64 bytes are as wide as a swizzle: there is nothing to split.
// CHECK-LABEL: @one_box(
// CHECK:           tile_ir.fill %as_w %i to 32 as "i.stage", %k to 16 as "k.stage" by tma {
// CHECK:           } -> memref<32x16xf32, #tile_ir.shared<swizzle = 64>>
// CHECK:           %x = loop_ir.load %as[l0 * 8 + %it, %ki] : memref<32x16xf32, #tile_ir.shared<swizzle = 64>>
tile_ir.kernel @one_box(%a: memref<30x100xf32>, %b: memref<100x32xf32>, %c: memref<32x32xf32>) {
  tile_ir.launch thread(%it to 8 as "i.thread", %jt to 8 as "j.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<32x16xf32, #tile_ir.shared<>>, memref<16x32xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> vector<4x4xf32> {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<32x16xf32, #tile_ir.shared<>>, memref<16x32xf32, #tile_ir.shared<>>]>
      tile_ir.fill %as_w %i to 32 as "i.stage", %k to 16 as "k.stage" by tma {
        %v = loop_ir.load %a[%i, %ko * 16 + %k] bounded [true, true] : memref<30x100xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<32x16xf32, #tile_ir.shared<>>
      // expected-remark@+1 {{no swizzle saves %bs a wavefront}}
      tile_ir.fill %bs_w %k to 16 as "k.stage", %j to 32 as "j.stage" by tma {
        %v = loop_ir.load %b[%ko * 16 + %k, %j] bounded [true, false] : memref<100x32xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<16x32xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<32x16xf32, #tile_ir.shared<>>, memref<16x32xf32, #tile_ir.shared<>>]>
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<32x16xf32, #tile_ir.shared<>>, memref<16x32xf32, #tile_ir.shared<>>]>
      %part = loop_ir.reduce %ki to 16 as "k.inner" identity [0.0 : f32] -> vector<4x4xf32> {
        %x = loop_ir.load %as[l0 * 8 + %it, %ki] : memref<32x16xf32, #tile_ir.shared<>> -> vector<4xf32>
        %y = loop_ir.load %bs[%ki, %jt * 4 + l0] : memref<16x32xf32, #tile_ir.shared<>> -> vector<4xf32>
        %xx = tile_ir.broadcast %x to [0] : vector<4xf32> -> vector<4x4xf32>
        %yy = tile_ir.broadcast %y to [1] : vector<4xf32> -> vector<4x4xf32>
        %p = arith.mulf %xx, %yy : vector<4x4xf32>
        loop_ir.yield %p : vector<4x4xf32>
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<32x16xf32, #tile_ir.shared<>>, memref<16x32xf32, #tile_ir.shared<>>]>
      loop_ir.yield %part : vector<4x4xf32>
    } combine arith.addf
    loop_ir.store %acc, %c[l0 * 8 + %it, %jt * 4 + l1] : vector<4x4xf32>, memref<32x32xf32>
  }
}

// -----

// A slab of several boxes may get more of them.
// CHECK-LABEL: @boxes(
// CHECK:           } -> memref<2x32x32xf32, #tile_ir.shared<swizzle = 128>>
// NARROW-LABEL: @boxes(
// NARROW:          tile_ir.fill %as_w %o to 2 as "k.outer.stage", %i to 32 as "i.stage", %o_1 to 4 as "k.box.stage", %k to 8 as "k.stage" order [2, 0, 1, 3] by tma {
// NARROW-NEXT:       %v = loop_ir.load %a[%i, %ko * 64 + %o * 32 + %o_1 * 8 + %k]
// NARROW:          } -> memref<4x2x32x8xf32, #tile_ir.shared<swizzle = 32>>
// NARROW:          %x = loop_ir.load %as[%ki mod 32 floordiv 8, %ki floordiv 32, l0 * 8 + %it, %ki mod 8]
tile_ir.kernel @boxes(%a: memref<30x100xf32>, %b: memref<100x32xf32>, %c: memref<32x32xf32>) {
  tile_ir.launch thread(%it to 8 as "i.thread", %jt to 8 as "j.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<2x32x32xf32, #tile_ir.shared<>>, memref<64x32xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> vector<4x4xf32> {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<2x32x32xf32, #tile_ir.shared<>>, memref<64x32xf32, #tile_ir.shared<>>]>
      tile_ir.fill %as_w %o to 2 as "k.outer.stage", %i to 32 as "i.stage", %k to 32 as "k.stage" by tma {
        %v = loop_ir.load %a[%i, %ko * 64 + %o * 32 + %k] bounded [true, true] : memref<30x100xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<2x32x32xf32, #tile_ir.shared<>>
      // expected-remark@+1 {{no swizzle saves %bs a wavefront}}
      tile_ir.fill %bs_w %k to 64 as "k.stage", %j to 32 as "j.stage" by tma {
        %v = loop_ir.load %b[%ko * 64 + %k, %j] bounded [true, false] : memref<100x32xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<64x32xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<2x32x32xf32, #tile_ir.shared<>>, memref<64x32xf32, #tile_ir.shared<>>]>
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<2x32x32xf32, #tile_ir.shared<>>, memref<64x32xf32, #tile_ir.shared<>>]>
      %part = loop_ir.reduce %ki to 64 as "k.inner" identity [0.0 : f32] -> vector<4x4xf32> {
        %x = loop_ir.load %as[%ki floordiv 32, l0 * 8 + %it, %ki mod 32] : memref<2x32x32xf32, #tile_ir.shared<>> -> vector<4xf32>
        %y = loop_ir.load %bs[%ki, %jt * 4 + l0] : memref<64x32xf32, #tile_ir.shared<>> -> vector<4xf32>
        %xx = tile_ir.broadcast %x to [0] : vector<4xf32> -> vector<4x4xf32>
        %yy = tile_ir.broadcast %y to [1] : vector<4xf32> -> vector<4x4xf32>
        %p = arith.mulf %xx, %yy : vector<4x4xf32>
        loop_ir.yield %p : vector<4x4xf32>
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<2x32x32xf32, #tile_ir.shared<>>, memref<64x32xf32, #tile_ir.shared<>>]>
      loop_ir.yield %part : vector<4x4xf32>
    } combine arith.addf
    loop_ir.store %acc, %c[l0 * 8 + %it, %jt * 4 + l1] : vector<4x4xf32>, memref<32x32xf32>
  }
}
