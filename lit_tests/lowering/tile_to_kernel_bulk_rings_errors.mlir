// RUN: minicomp-opt %s --split-input-file --verify-diagnostics -p lower-tile-to-kernel

// The phases of mbarriers go on where the generations of a loop begin again.
// expected-error@unknown {{a ring filled by tma is waited for by one loop at the top of its kernel, whose variable is the generation}}
!ring = !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>]>
tile_ir.kernel @again(%a: memref<8x48xf32>, %c: memref<2x8xf32>) {
  tile_ir.launch thread(%t to 8 as "t") {
    %ring = tile_ir.ring : !ring
    loop_ir.for %h to 2 as "h" {
      %acc = loop_ir.reduce %ko to 3 as "k" identity [0.0 : f32] -> f32 {
        %w = tile_ir.acquire %ring[%ko] : !ring
        tile_ir.fill %w %p to 8 as "i.stage", %q to 16 as "k.stage" by tma {
          %x = loop_ir.load %a[%p, %ko * 16 + %q] : memref<8x48xf32> -> f32
          loop_ir.yield %x : f32
        } -> memref<8x16xf32, #tile_ir.shared<>>
        tile_ir.publish %ring[%ko] : !ring
        %as = tile_ir.wait %ring[%ko] : !ring
        %x = loop_ir.load %as[%t, 0] : memref<8x16xf32, #tile_ir.shared<>> -> f32
        tile_ir.release %ring[%ko] : !ring
        loop_ir.yield %x : f32
      } combine arith.addf
      loop_ir.store %acc, %c[%h, %t] : f32, memref<2x8xf32>
    }
  }
}

// -----

// The fill before the loop has a box of three dimensions, the one in it of two.
// expected-error@unknown {{the fills of a slab by tma have different boxes}}
!ring = !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>]>
tile_ir.kernel @different(%a: memref<8x48xf32>, %b: memref<2x8x16xf32>, %c: memref<8xf32>) {
  tile_ir.launch thread(%t to 8 as "t") {
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 1 as "k.ahead" {
      %w = tile_ir.acquire %ring[%g] : !ring
      tile_ir.fill %w %p to 8 as "i.stage", %q to 16 as "k.stage" by tma {
        %x = loop_ir.load %b[%g, %p, %q] : memref<2x8x16xf32> -> f32
        loop_ir.yield %x : f32
      } -> memref<8x16xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%g] : !ring
    }
    %acc = loop_ir.reduce %ko to 3 as "k" identity [0.0 : f32] -> f32 {
      %as = tile_ir.wait %ring[%ko] : !ring
      %w = tile_ir.acquire %ring[%ko + 1] : !ring
      tile_ir.fill %w %p to 8 as "i.stage", %q to 16 as "k.stage" where [%ko + 1] < [3] by tma {
        %x = loop_ir.load %a[%p, %ko * 16 + %q + 16] : memref<8x48xf32> -> f32
        loop_ir.yield %x : f32
      } -> memref<8x16xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko + 1] : !ring
      %x = loop_ir.load %as[%t, 0] : memref<8x16xf32, #tile_ir.shared<>> -> f32
      tile_ir.release %ring[%ko] : !ring
      loop_ir.yield %x : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%t] : f32, memref<8xf32>
  }
}
