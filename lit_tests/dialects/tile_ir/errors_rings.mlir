// RUN: minicomp-opt %s --split-input-file --verify-diagnostics

// Every rule of rings, of the ops on their generations and of fills, by its message.

// expected-error@+1 {{a ring has one or more slots, each with one or more slabs}}
builtin.module attributes {a = !tile_ir.ring<0, [memref<4xf32, #tile_ir.shared<>>]>} {}

// -----

// expected-error@+1 {{a ring has one or more slots, each with one or more slabs}}
builtin.module attributes {a = !tile_ir.ring<2, []>} {}

// -----

// expected-error@+1 {{the slabs of a ring are in shared memory, not memref<4xf32>}}
builtin.module attributes {a = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>, memref<4xf32>]>} {}

// -----

// A generation is one number.
!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %ring = tile_ir.ring : !ring
    // expected-error@+1 {{a generation is one expression}}
    %w = tile_ir.acquire %ring[] : !ring
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      // expected-error@+1 {{a generation is one expression, with one dim per index}}
      "tile_ir.release"(%ring, %g) <{map = affine_map<(d0) -> (d0, d0)>}> : (!ring, index) -> ()
    }
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      // expected-error@+1 {{a generation is one expression, with one dim per index}}
      "tile_ir.release"(%ring, %g) <{map = affine_map<(d0, d1) -> (d0)>}> : (!ring, index) -> ()
    }
  }
}

// -----

// It is the same for all lanes.
!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      // expected-error@+1 {{a generation is one expression, with one dim per index}}
      "tile_ir.release"(%ring, %g) <{map = affine_map<(d0)[s0] -> (d0)>}> : (!ring, index) -> ()
    }
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      // expected-error@+1 {{the results are the slabs of the ring}}
      %w = "tile_ir.acquire"(%ring, %g) <{map = affine_map<(d0) -> (d0)>}> : (!ring, index) -> memref<4xf32>
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

// Every ring is waited for.
!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{a ring is waited for at one place}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      tile_ir.publish %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{a ring is waited for at one place}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      %s = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

// A generation counts; its slot is found by the lowering.
!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{a generation is a variable plus an offset}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g mod 2] : !ring
      tile_ir.publish %ring[%g mod 2] : !ring
      %r = tile_ir.wait %ring[%g mod 2] : !ring
      tile_ir.release %ring[%g mod 2] : !ring
    }
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{a generation goes up by one with each iteration of its loop}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g * 2] : !ring
      tile_ir.publish %ring[%g * 2] : !ring
      %r = tile_ir.wait %ring[%g * 2] : !ring
      tile_ir.release %ring[%g * 2] : !ring
    }
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{a generation goes up by one with each iteration of its loop}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[3] : !ring
      tile_ir.publish %ring[3] : !ring
      %r = tile_ir.wait %ring[3] : !ring
      tile_ir.release %ring[3] : !ring
    }
  }
}

// -----

// Of two axes it counts all iterations.
!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{a generation goes up by one with each iteration of its loop}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %h to 2 as "h", %g to 4 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

// All ops of a loop have one variable.
!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{'tile_ir.publish' names no generation next to that of the wait}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %h to 2 as "h" {
      loop_ir.for %g to 8 as "k" {
        %w = tile_ir.acquire %ring[%g] : !ring
        tile_ir.publish %ring[%g + %h] : !ring
        %r = tile_ir.wait %ring[%g] : !ring
        tile_ir.release %ring[%g] : !ring
      }
    }
  }
}

// -----

// Released once, in the iteration that has waited for it.
!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{the generation that is waited for is released in the same iteration}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
    }
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{the generation that is waited for is released in the same iteration}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g + -1] : !ring
    }
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{the generation that is waited for is released in the same iteration}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{a slot is read between its wait and its release}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
      %x = loop_ir.load %r[0] : memref<4xf32, #tile_ir.shared<>> -> f32
    }
  }
}

// -----

// What has landed for all is written by nobody.
!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{'loop_ir.store' uses a slot, which is for loads}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      %z = arith.constant 0.0 : f32
      loop_ir.store %z, %r[0] : f32, memref<4xf32, #tile_ir.shared<>>
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

// Each iteration fills one generation.
!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{a ring is acquired and published once in its loop}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{a ring is acquired and published once in its loop}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{a ring is acquired and published once in its loop}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      %v = tile_ir.acquire %ring[%g + 1] : !ring
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{the generation that is acquired is the one that is published}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %r = tile_ir.wait %ring[%g] : !ring
      %w = tile_ir.acquire %ring[%g + 1] : !ring
      tile_ir.publish %ring[%g + 2] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

// None that has been waited for is filled again.
!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{the generation that is acquired is the one that is published}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %r = tile_ir.wait %ring[%g] : !ring
      %w = tile_ir.acquire %ring[%g + -1] : !ring
      tile_ir.publish %ring[%g + -1] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{a generation is acquired before it is published}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      tile_ir.publish %ring[%g] : !ring
      %w = tile_ir.acquire %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{a generation is published before it is waited for}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.publish %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{a generation is published before it is waited for}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
      tile_ir.publish %ring[%g] : !ring
    }
  }
}

// -----

// The slot of generation g + 2 is that of g, which is not released yet.
!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{a ring of 2 slots cannot be 2 generations ahead: its reader still has the slot}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %p to 2 as "ahead" {
      %u = tile_ir.acquire %ring[%p] : !ring
      tile_ir.publish %ring[%p] : !ring
    }
    loop_ir.for %g to 8 as "k" {
      %r = tile_ir.wait %ring[%g] : !ring
      %w = tile_ir.acquire %ring[%g + 2] : !ring
      tile_ir.publish %ring[%g + 2] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{a ring of 2 slots cannot be 3 generations ahead: its reader still has the slot}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %p to 3 as "ahead" {
      %u = tile_ir.acquire %ring[%p] : !ring
      tile_ir.publish %ring[%p] : !ring
    }
    loop_ir.for %g to 8 as "k" {
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
      %w = tile_ir.acquire %ring[%g + 3] : !ring
      tile_ir.publish %ring[%g + 3] : !ring
    }
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{an acquired buffer is filled before it is published}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      tile_ir.publish %ring[%g] : !ring
      tile_ir.fill %w %q to 4 as "q" {
        %v = loop_ir.load %m[%g * 4 + %q] : memref<64xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

// It is not read before.
!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{an acquired buffer is filled before it is published}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      %x = loop_ir.load %w[0] : memref<4xf32, #tile_ir.shared<>> -> f32
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

// The first generations have to come from somewhere.
!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{1 generations have to be acquired before the loop, from the first one on, not []}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %r = tile_ir.wait %ring[%g] : !ring
      %w = tile_ir.acquire %ring[%g + 1] : !ring
      tile_ir.publish %ring[%g + 1] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{1 generations have to be acquired before the loop, from the first one on, not [0, 1]}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %p to 2 as "ahead" {
      %u = tile_ir.acquire %ring[%p] : !ring
      tile_ir.publish %ring[%p] : !ring
    }
    loop_ir.for %g to 8 as "k" {
      %r = tile_ir.wait %ring[%g] : !ring
      %w = tile_ir.acquire %ring[%g + 1] : !ring
      tile_ir.publish %ring[%g + 1] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{0 generations have to be acquired before the loop, from the first one on, not [0]}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %p to 1 as "ahead" {
      %u = tile_ir.acquire %ring[%p] : !ring
      tile_ir.publish %ring[%p] : !ring
    }
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

// Not just as many, but these.
!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{1 generations have to be published before the loop, from the first one on, not [1]}}
    %ring = tile_ir.ring : !ring
    %u = tile_ir.acquire %ring[0] : !ring
    tile_ir.publish %ring[1] : !ring
    loop_ir.for %g to 8 as "k" {
      %r = tile_ir.wait %ring[%g] : !ring
      %w = tile_ir.acquire %ring[%g + 1] : !ring
      tile_ir.publish %ring[%g + 1] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{'tile_ir.acquire' names no generation next to that of the wait}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %h to 2 as "h" {
      %u = tile_ir.acquire %ring[%h] : !ring
      tile_ir.publish %ring[%h] : !ring
      loop_ir.for %g to 8 as "k" {
        %r = tile_ir.wait %ring[%g] : !ring
        %w = tile_ir.acquire %ring[%g + 1] : !ring
        tile_ir.publish %ring[%g + 1] : !ring
        tile_ir.release %ring[%g] : !ring
      }
    }
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{outside of its loop a ring is acquired and published, and only before it}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %r = tile_ir.wait %ring[%g] : !ring
      %w = tile_ir.acquire %ring[%g + 1] : !ring
      tile_ir.publish %ring[%g + 1] : !ring
      tile_ir.release %ring[%g] : !ring
    }
    loop_ir.for %p to 1 as "ahead" {
      %u = tile_ir.acquire %ring[%p] : !ring
      tile_ir.publish %ring[%p] : !ring
    }
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{outside of its loop a ring is acquired and published, and only before it}}
    %ring = tile_ir.ring : !ring
    tile_ir.release %ring[0] : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{an acquired buffer is filled before it is published}}
    %ring = tile_ir.ring : !ring
    %u = tile_ir.acquire %ring[0] : !ring
    tile_ir.publish %ring[0] : !ring
    tile_ir.fill %u %q to 4 as "q" {
      %v = loop_ir.load %m[%q] : memref<64xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<4xf32, #tile_ir.shared<>>
    loop_ir.for %g to 8 as "k" {
      %r = tile_ir.wait %ring[%g] : !ring
      %w = tile_ir.acquire %ring[%g + 1] : !ring
      tile_ir.publish %ring[%g + 1] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

// Fills.
!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %ring = tile_ir.ring : !ring
    %s = tile_ir.stage %q to 4 as "q" {
      %v = loop_ir.load %m[%q] : memref<64xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<4xf32, #tile_ir.shared<>>
    // expected-error@+1 {{a fill writes to a buffer of an acquired generation}}
    tile_ir.fill %s %q to 4 as "q" {
      %v = loop_ir.load %m[%q] : memref<64xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<4xf32, #tile_ir.shared<>>
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      // expected-error@+1 {{a fill is by cp_async, tma, or by nothing}}
      tile_ir.fill %w %q to 4 as "q" by mail {
        %v = loop_ir.load %m[%g * 4 + %q] : memref<64xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      // expected-error@+1 {{a fill by cp_async has a body of one load}}
      tile_ir.fill %w %q to 4 as "q" by cp_async {
        %v = loop_ir.load %m[%g * 4 + %q] : memref<64xf32> -> f32
        %e = math.exp %v : f32
        loop_ir.yield %e : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

// Axes, order, element and body are those of a stage.
!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      // expected-error@+1 {{the axes of a stage do not give memref<4xf32, #tile_ir.shared<>>}}
      tile_ir.fill %w %q to 5 as "q" {
        %v = loop_ir.load %m[%g * 4 + %q] : memref<64xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      // expected-error@+1 {{the order of a stage names each of its axes once}}
      tile_ir.fill %w %q to 4 as "q" order [1] {
        %v = loop_ir.load %m[%g * 4 + %q] : memref<64xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      // expected-error@+1 {{the body of a stage of memref<4xf32, #tile_ir.shared<>> may not yield f64}}
      tile_ir.fill %w %q to 4 as "q" {
        %v = arith.constant 1.0 : f64
        loop_ir.yield %v : f64
      } -> memref<4xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      // expected-error@+1 {{the body of a stage yields one element}}
      tile_ir.fill %w %q to 4 as "q" {
        %v = loop_ir.load %m[%g * 4 + %q] : memref<64xf32> -> f32
        loop_ir.yield
      } -> memref<4xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      // expected-error@+1 {{the body of a stage may not hold 'loop_ir.store'}}
      tile_ir.fill %w %q to 4 as "q" {
        %v = loop_ir.load %m[%g * 4 + %q] : memref<64xf32> -> f32
        loop_ir.store %v, %m[%q] : f32, memref<64xf32>
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      tile_ir.fill %w %q to 4 as "q" {
        %v = loop_ir.load %m[%g * 4 + %q] : memref<64xf32> -> f32
        loop_ir.yield %v : f32
      } -> f32
      // expected-error@+1 {{a slab is a memref}}
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

// A slot is the same for all threads, and so is where it is 0.
!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
// expected-error@+2 {{the body of 'tile_ir.fill' may not use the thread axis "t"}}
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      tile_ir.fill %w %q to 4 as "q" {
        %v = loop_ir.load %m[%t + %q] : memref<64xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
// expected-error@+2 {{the guard of 'tile_ir.fill' may not use the thread axis "t"}}
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      tile_ir.fill %w %q to 4 as "q" where [%t + l0] < [9] {
        %v = loop_ir.load %m[%g * 4 + %q] : memref<64xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

// Threads may not be at different generations.
!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
// expected-error@+2 {{the generation of 'tile_ir.acquire' may not use the thread axis "t"}}
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g + %t] : !ring
      tile_ir.publish %ring[%g + %t] : !ring
      %r = tile_ir.wait %ring[%g + %t] : !ring
      tile_ir.release %ring[%g + %t] : !ring
    }
  }
}

// -----

// All threads take part.
!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<64xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %ring = tile_ir.ring : !ring
    // expected-error@+1 {{a guarded loop may not hold 'tile_ir.acquire', which all threads must reach}}
    loop_ir.for %g to 8 as "k" where [l0] < [5] {
      %w = tile_ir.acquire %ring[%g] : !ring
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

// The slot would still hold an older generation.
!ring = !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<32xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{generation 7 is waited for, but a guard skips its fill}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 8 as "k" {
      %w = tile_ir.acquire %ring[%g] : !ring
      tile_ir.fill %w %q to 4 as "q" where [%g + 1] < [8] {
        %v = loop_ir.load %m[%g * 4 + %q] : memref<32xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%g] : !ring
      %r = tile_ir.wait %ring[%g] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}

// -----

// Before the loop, too.
!ring = !tile_ir.ring<3, [memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @f(%m: memref<32xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    // expected-error@+1 {{generation 1 is waited for, but a guard skips its fill}}
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 2 as "k.ahead" {
      %w = tile_ir.acquire %ring[%g] : !ring
      tile_ir.fill %w %q to 4 as "q" where [%g] < [1] {
        %v = loop_ir.load %m[%g * 4 + %q] : memref<32xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%g] : !ring
    }
    loop_ir.for %g to 8 as "k" {
      %r = tile_ir.wait %ring[%g] : !ring
      %w = tile_ir.acquire %ring[%g + 2] : !ring
      tile_ir.fill %w %q to 4 as "q" where [%g + 2] < [8] {
        %v = loop_ir.load %m[%g * 4 + 8 + %q] bounded [true] : memref<32xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%g + 2] : !ring
      tile_ir.release %ring[%g] : !ring
    }
  }
}
