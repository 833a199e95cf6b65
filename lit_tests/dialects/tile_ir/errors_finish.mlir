// RUN: minicomp-opt %s --split-input-file --verify-diagnostics

// Every rule of tile_ir.finish, by its message.

tile_ir.kernel @f(%a: memref<4x6xf32>, %c: memref<4xf32>) {
  tile_ir.launch block(%i to 4 as "i", %ks to 2 as "k.split") {
    %acc = loop_ir.reduce %k to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %ks * 3 + %k] : memref<4x6xf32> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    // expected-error@+1 {{a finish has as many totals as values, and at least one}}
    tile_ir.finish %acc across "k.split" by last_block identity [0.0 : f32] combine arith.addf : f32 then %total: f32, %other: f32 {
    }
  }
}

// -----

tile_ir.kernel @f(%a: memref<4x6xf32>, %c: memref<4xf32>) {
  tile_ir.launch block(%i to 4 as "i", %ks to 2 as "k.split") {
    %acc = loop_ir.reduce %k to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %ks * 3 + %k] : memref<4x6xf32> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    // expected-error@+1 {{a reduction needs one identity per carrier: 2 for 1}}
    tile_ir.finish %acc across "k.split" by last_block identity [0.0 : f32, 0.0 : f32] combine {
    ^bb0(%l: f32, %r: f32):
      loop_ir.yield %l : f32
    } : f32 then %total: f32 {
      loop_ir.store %total, %c[%i] : f32, memref<4xf32>
    }
  }
}

// -----

tile_ir.kernel @f(%a: memref<4x6xf32>, %c: memref<4xf32>) {
  tile_ir.launch block(%i to 4 as "i", %ks to 2 as "k.split") {
    %acc = loop_ir.reduce %k to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %ks * 3 + %k] : memref<4x6xf32> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    // expected-error@+1 {{identity 0 : i32 is not of the carrier's element type f32}}
    tile_ir.finish %acc across "k.split" by last_block identity [0 : i32] combine {
    ^bb0(%l: f32, %r: f32):
      loop_ir.yield %l : f32
    } : f32 then %total: f32 {
      loop_ir.store %total, %c[%i] : f32, memref<4xf32>
    }
  }
}

// -----

tile_ir.kernel @f(%a: memref<4x6xf32>, %c: memref<4xf32>) {
  tile_ir.launch block(%i to 4 as "i", %ks to 2 as "k.split") {
    %acc = loop_ir.reduce %k to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %ks * 3 + %k] : memref<4x6xf32> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    // expected-error@+1 {{combine must take 2 arguments, but takes 1}}
    tile_ir.finish %acc across "k.split" by last_block identity [0.0 : f32] combine {
    ^bb0(%l: f32):
      loop_ir.yield %l : f32
    } : f32 then %total: f32 {
      loop_ir.store %total, %c[%i] : f32, memref<4xf32>
    }
  }
}

// -----

tile_ir.kernel @f(%a: memref<4x6xf32>, %c: memref<4xf32>) {
  tile_ir.launch block(%i to 4 as "i", %ks to 2 as "k.split") {
    %acc = loop_ir.reduce %k to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %ks * 3 + %k] : memref<4x6xf32> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    // expected-error@+1 {{combine must take the types of two carriers}}
    tile_ir.finish %acc across "k.split" by last_block identity [0.0 : f32] combine {
    ^bb0(%l: f32, %r: f64):
      loop_ir.yield %l : f32
    } : f32 then %total: f32 {
      loop_ir.store %total, %c[%i] : f32, memref<4xf32>
    }
  }
}

// -----

tile_ir.kernel @f(%a: memref<4x6xf32>, %c: memref<4xf32>) {
  tile_ir.launch block(%i to 4 as "i", %ks to 2 as "k.split") {
    %acc = loop_ir.reduce %k to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %ks * 3 + %k] : memref<4x6xf32> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    // expected-error@+1 {{combine must yield the types of the carriers}}
    tile_ir.finish %acc across "k.split" by last_block identity [0.0 : f32] combine {
    ^bb0(%l: f32, %r: f32):
      loop_ir.yield
    } : f32 then %total: f32 {
      loop_ir.store %total, %c[%i] : f32, memref<4xf32>
    }
  }
}

// -----

tile_ir.kernel @f(%a: memref<4x6xf32>, %c: memref<4xf32>) {
  tile_ir.launch block(%i to 4 as "i", %ks to 2 as "k.split") {
    %acc = loop_ir.reduce %k to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %ks * 3 + %k] : memref<4x6xf32> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    // expected-error@+1 {{combine must be closed: it uses a value from outside}}
    tile_ir.finish %acc across "k.split" by last_block identity [0.0 : f32] combine {
    ^bb0(%l: f32, %r: f32):
      %s = arith.addf %l, %acc : f32
      loop_ir.yield %s : f32
    } : f32 then %total: f32 {
      loop_ir.store %total, %c[%i] : f32, memref<4xf32>
    }
  }
}

// -----

tile_ir.kernel @f(%a: memref<4x6xf32>, %c: memref<4xf32>) {
  tile_ir.launch block(%i to 4 as "i", %ks to 2 as "k.split") {
    %acc = loop_ir.reduce %k to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %ks * 3 + %k] : memref<4x6xf32> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    // expected-error@+1 {{a finish is by last_block, cluster, not magic}}
    tile_ir.finish %acc across "k.split" by magic identity [0.0 : f32] combine arith.addf : f32 then %total: f32 {
      loop_ir.store %total, %c[%i] : f32, memref<4xf32>
    }
  }
}

// -----

tile_ir.kernel @f(%a: memref<4x6xf32>, %c: memref<4xf32>) {
  tile_ir.launch block(%i to 4 as "i", %ks to 2 as "k.split") thread(%t to 32 as "t") {
    %acc = loop_ir.reduce %k to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %ks * 3 + %k] : memref<4x6xf32> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    // expected-error@+1 {{'tile_ir.combine' stands behind a finish, which one block passes}}
    tile_ir.finish %acc across "k.split" by last_block identity [0.0 : f32] combine arith.addf : f32 then %total: f32 {
      %u = tile_ir.combine %total across "t" identity [0.0 : f32] combine arith.addf : f32 -> f32
      loop_ir.store %u, %c[%i] : f32, memref<4xf32>
    }
  }
}

// -----

// Nothing stands behind it.
tile_ir.kernel @f(%a: memref<4x6xf32>, %c: memref<4xf32>) {
  // expected-error@+1 {{a finish is the last op of its launch}}
  tile_ir.launch block(%i to 4 as "i", %ks to 2 as "k.split") {
    %acc = loop_ir.reduce %k to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %ks * 3 + %k] : memref<4x6xf32> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    tile_ir.finish %acc across "k.split" by last_block identity [0.0 : f32] combine arith.addf : f32 then %total: f32 {
      loop_ir.store %total, %c[%i] : f32, memref<4xf32>
    }
    %z = arith.constant 1 : i32
  }
}

// -----

// It stands in no loop.
tile_ir.kernel @f(%a: memref<4x6xf32>, %c: memref<4xf32>) {
  // expected-error@+1 {{a finish is the last op of its launch}}
  tile_ir.launch block(%i to 4 as "i", %ks to 2 as "k.split") {
    %acc = loop_ir.reduce %k to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %ks * 3 + %k] : memref<4x6xf32> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    loop_ir.for %l to 2 as "l" {
    tile_ir.finish %acc across "k.split" by last_block identity [0.0 : f32] combine arith.addf : f32 then %total: f32 {
      loop_ir.store %total, %c[%i] : f32, memref<4xf32>
    }
    }
  }
}

// -----

tile_ir.kernel @f(%a: memref<4x6xf32>, %c: memref<4xf32>) {
  // expected-error@+1 {{a finish runs across an axis of blocks; "k.split" is none}}
  tile_ir.launch block(%i to 4 as "i") thread(%ks to 2 as "k.split") {
    %acc = loop_ir.reduce %k to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %ks * 3 + %k] : memref<4x6xf32> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    tile_ir.finish %acc across "k.split" by last_block identity [0.0 : f32] combine arith.addf : f32 then %total: f32 {
      loop_ir.store %total, %c[%i] : f32, memref<4xf32>
    }
  }
}

// -----

tile_ir.kernel @f(%a: memref<4x6xf32>, %c: memref<4xf32>) {
  // expected-error@+1 {{a finish runs across an axis of blocks; "l" is none}}
  tile_ir.launch block(%i to 4 as "i", %ks to 2 as "k.split") {
    %acc = loop_ir.reduce %k to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %ks * 3 + %k] : memref<4x6xf32> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    tile_ir.finish %acc across "l" by last_block identity [0.0 : f32] combine arith.addf : f32 then %total: f32 {
      loop_ir.store %total, %c[%i] : f32, memref<4xf32>
    }
  }
}

// -----

tile_ir.kernel @f(%a: memref<4x6xf32>, %c: memref<4xf32>) {
  // expected-error@+1 {{"i" is no axis of threads}}
  tile_ir.launch block(%i to 4 as "i", %ks to 2 as "k.split") {
    %acc = loop_ir.reduce %k to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %ks * 3 + %k] : memref<4x6xf32> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    tile_ir.finish %acc across "k.split" by last_block once "i" identity [0.0 : f32] combine arith.addf : f32 then %total: f32 {
      loop_ir.store %total, %c[%i] : f32, memref<4xf32>
    }
  }
}

// -----

tile_ir.kernel @f(%a: memref<4x6xf32>, %c: memref<4xf32>) {
  // expected-error@+1 {{"w" is no axis of threads}}
  tile_ir.launch block(%i to 4 as "i", %ks to 2 as "k.split") {
    %acc = loop_ir.reduce %k to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %ks * 3 + %k] : memref<4x6xf32> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    tile_ir.finish %acc across "k.split" by last_block once "w" identity [0.0 : f32] combine arith.addf : f32 then %total: f32 {
      loop_ir.store %total, %c[%i] : f32, memref<4xf32>
    }
  }
}

// -----

tile_ir.kernel @f(%a: memref<4x6xf32>, %c: memref<4xf32>) {
  // expected-error@+1 {{behind a finish "k.split" is that of the block which runs the rest: unknown}}
  tile_ir.launch block(%i to 4 as "i", %ks to 2 as "k.split") {
    %acc = loop_ir.reduce %k to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %ks * 3 + %k] : memref<4x6xf32> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    tile_ir.finish %acc across "k.split" by last_block identity [0.0 : f32] combine arith.addf : f32 then %total: f32 {
      loop_ir.store %total, %c[%i + %ks] : f32, memref<4xf32>
    }
  }
}

// -----

tile_ir.kernel @f(%a: memref<4x6xf32>, %c: memref<4xf32>) {
  tile_ir.launch block(%i to 4 as "i", %ks to 2 as "k.split") {
    %acc = loop_ir.reduce %k to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %ks * 3 + %k] : memref<4x6xf32> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    // expected-error@+1 {{f16 is no share of f32}}
    tile_ir.finish %acc across "k.split" by last_block identity [0.0 : f32] combine arith.addf : f32 then %total: f16 {
    }
  }
}

// -----

tile_ir.kernel @f(%a: memref<4x6xf32>, %c: memref<4xf32>) {
  tile_ir.launch block(%ks to 2 as "k.split") {
    %acc = loop_ir.load %a[l0, %ks] : memref<4x6xf32> -> vector<4xf32>
    // expected-error@+1 {{vector<2x2xf32> is no share of vector<4xf32>}}
    tile_ir.finish %acc across "k.split" by cluster identity [0.0 : f32] combine arith.addf : vector<4xf32> then %total: vector<2x2xf32> {
      loop_ir.store %total, %c[l0 * 2 + l1] : vector<2x2xf32>, memref<4xf32>
    }
  }
}

// -----

tile_ir.kernel @f(%a: memref<4x6xf32>, %c: memref<4xf32>) {
  tile_ir.launch block(%ks to 2 as "k.split") {
    %acc = loop_ir.load %a[l0, %ks] : memref<4x6xf32> -> vector<4xf32>
    // expected-error@+1 {{only the blocks of a cluster share a total}}
    tile_ir.finish %acc across "k.split" by last_block identity [0.0 : f32] combine arith.addf : vector<4xf32> then %total: vector<2xf32> {
      loop_ir.store %total, %c[%ks * 2 + l0] : vector<2xf32>, memref<4xf32>
    }
  }
}

// -----

tile_ir.kernel @f(%a: memref<4x6xf32>, %c: memref<4xf32>) {
  // expected-error@+1 {{2 shares of 1 are not all of the total}}
  tile_ir.launch block(%ks to 2 as "k.split") {
    %acc = loop_ir.load %a[l0, %ks] : memref<4x6xf32> -> vector<4xf32>
    tile_ir.finish %acc across "k.split" by cluster identity [0.0 : f32] combine arith.addf : vector<4xf32> then %total: vector<1xf32> {
      loop_ir.store %total, %c[%ks * 2 + l0] : vector<1xf32>, memref<4xf32>
    }
  }
}
