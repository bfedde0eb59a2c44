import { expect, it } from 'vitest'
import { createRandom } from '#test/builders/seeded-random.ts'
import { heldMs } from './timing/testing/watched-turns.ts'
import { decodeInTurns } from './utf-8.ts'

it('I6: long texts are decoded piece by piece as they would be at once, also invalid ones', async () => {
  const random = createRandom(21)
  const below = (end: number) => Math.floor(random() * end)
  const parts = ['a', 'ä', '€', '😀', '\uFEFF'].map((text) => Buffer.from(text))
  const broken = [[0x80], [0xbf, 0x80, 0x80, 0x80, 0x80], [0xf0, 0x9f], [0xe2, 0x82], [0xff]].map((bytes) =>
    Buffer.from(bytes),
  )
  for (let n = 0; n < 10; n += 1) {
    const all = n < 5 ? parts : [...parts, ...broken]
    const few = Array.from({ length: 7 }, () => all[below(all.length)] ?? Buffer.alloc(0))
    const bytes = Buffer.concat(Array.from({ length: 50_000 }, () => few).flat())
    expect((await decodeInTurns(bytes)) === new TextDecoder().decode(bytes)).toBe(true)
  }
})

it('I6: many texts of 10 MB at once hold the thread for less than 200 ms', async () => {
  const bytes = Buffer.from('ä€'.repeat(2_000_000))
  const decode = () => Promise.all(Array.from({ length: 12 }, () => decodeInTurns(bytes)))
  expect(await heldMs(decode, 200)).toBeLessThan(200)
})
