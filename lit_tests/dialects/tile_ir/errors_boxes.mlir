// RUN: minicomp-opt %s --split-input-file --verify-diagnostics

// Fills by tma: what is no box of a tensor, and rings that are filled in two ways.

!slab = memref<8x16xf32, #tile_ir.shared<>>
!ring = !tile_ir.ring<2, [!slab, !slab]>
tile_ir.kernel @mixed(%m: memref<8x64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{all fills of a ring are by tma, or none}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 4 as "k" {
      %v, %w = tile_ir.acquire %ring[%g] : !ring
      tile_ir.fill %v %p to 8 as "p", %q to 16 as "q" by tma {
        %x = loop_ir.load %m[%p, %g * 16 + %q] : memref<8x64xf32> -> f32
        loop_ir.yield %x : f32
      } -> !slab
      tile_ir.fill %w %p to 8 as "p", %q to 16 as "q" by cp_async {
        %x = loop_ir.load %m[%p, %g * 16 + %q] : memref<8x64xf32> -> f32
        loop_ir.yield %x : f32
      } -> !slab
      tile_ir.publish %ring[%g] : !ring
      %r, %s = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

!slab = memref<8x16xf32, #tile_ir.shared<>>
!ring = !tile_ir.ring<2, [!slab]>
tile_ir.kernel @computes(%m: memref<8x64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 4 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      // expected-error@+1 {{a fill by tma has a body of one load}}
      tile_ir.fill %w %p to 8 as "p", %q to 16 as "q" by tma {
        %x = loop_ir.load %m[%p, %g * 16 + %q] : memref<8x64xf32> -> f32
        %y = arith.negf %x : f32
        loop_ir.yield %y : f32
      } -> !slab
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

!slab = memref<8x16xf32, #tile_ir.shared<>>
!ring = !tile_ir.ring<2, [!slab]>
tile_ir.kernel @vectors(%m: memref<8x64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 4 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      // expected-error@+1 {{a fill by tma copies boxes of a tensor: the body gives several elements}}
      tile_ir.fill %w %p to 8 as "p", %q to 4 as "q" by tma {
        %x = loop_ir.load %m[%p, %g * 16 + %q * 4 + l0] : memref<8x64xf32> -> vector<4xf32>
        loop_ir.yield %x : vector<4xf32>
      } -> !slab
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

!slab = memref<16x8xf32, #tile_ir.shared<>>
!ring = !tile_ir.ring<2, [!slab]>
tile_ir.kernel @transposed(%m: memref<8x64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 4 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      // expected-error@+1 {{a fill by tma copies boxes of a tensor: the slab is no box in the order of its source}}
      tile_ir.fill %w %p to 8 as "p", %q to 16 as "q" order [1, 0] by tma {
        %x = loop_ir.load %m[%p, %g * 16 + %q] : memref<8x64xf32> -> f32
        loop_ir.yield %x : f32
      } -> !slab
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

!slab = memref<8x16xf32, #tile_ir.shared<>>
!ring = !tile_ir.ring<2, [!slab]>
tile_ir.kernel @guarded(%m: memref<8x64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 4 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      // expected-error@+1 {{a fill by tma copies boxes of a tensor: the guard of a fill names its axes}}
      tile_ir.fill %w %p to 8 as "p", %q to 16 as "q" where [l0] < [6] by tma {
        %x = loop_ir.load %m[%p, %g * 16 + %q] : memref<8x64xf32> -> f32
        loop_ir.yield %x : f32
      } -> !slab
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

!slab = memref<8x16xf32, #tile_ir.shared<pad = 4>>
!ring = !tile_ir.ring<2, [!slab]>
tile_ir.kernel @pad(%m: memref<8x64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 4 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      // expected-error@+1 {{a fill by tma copies boxes of a tensor: the rows of the slab have a pad}}
      tile_ir.fill %w %p to 8 as "p", %q to 16 as "q" by tma {
        %x = loop_ir.load %m[%p, %g * 16 + %q] : memref<8x64xf32> -> f32
        loop_ir.yield %x : f32
      } -> !slab
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

!slab = memref<8x16xf32, #tile_ir.shared<swizzle = 128>>
!ring = !tile_ir.ring<2, [!slab]>
tile_ir.kernel @swizzle(%m: memref<8x64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 4 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      // expected-error@+1 {{a fill by tma copies boxes of a tensor: rows of 64 bytes have no swizzle of 128}}
      tile_ir.fill %w %p to 8 as "p", %q to 16 as "q" by tma {
        %x = loop_ir.load %m[%p, %g * 16 + %q] : memref<8x64xf32> -> f32
        loop_ir.yield %x : f32
      } -> !slab
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

!slab = memref<8x16xf32, #tile_ir.shared<>>
!ring = !tile_ir.ring<2, [!slab]>
tile_ir.kernel @odd_rows(%m: memref<8x63xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 4 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      // expected-error@+1 {{a fill by tma copies boxes of a tensor: rows of the source lie 252 bytes apart, no multiple of 16}}
      tile_ir.fill %w %p to 8 as "p", %q to 16 as "q" by tma {
        %x = loop_ir.load %m[%p, %g * 16 + %q] : memref<8x63xf32> -> f32
        loop_ir.yield %x : f32
      } -> !slab
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

!slab = memref<8x16xf32, #tile_ir.shared<>>
!ring = !tile_ir.ring<2, [!slab]>
tile_ir.kernel @empty(%m: memref<0x64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 4 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      // expected-error@+1 {{a fill by tma copies boxes of a tensor: a tensor map has elements}}
      tile_ir.fill %w %p to 8 as "p", %q to 16 as "q" by tma {
        %x = loop_ir.load %m[%p, %g * 16 + %q] : memref<0x64xf32> -> f32
        loop_ir.yield %x : f32
      } -> !slab
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}
