/** Deadlines for each kind of store call, in milliseconds. cache.md's measurements, with room. */
export const deadlines = { head: 1000, lease: 1000, publish: 2000, chunks: 1000, chunksPerMegabyte: 500 }
