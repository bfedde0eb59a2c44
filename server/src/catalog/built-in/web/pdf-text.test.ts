import { expect, it } from 'vitest'
import { createRandom } from '#test/builders/seeded-random.ts'
import { worstPdfs } from '#test/faults/breaks/worst-shapes.ts'
import { createPdf } from '../../testing/pdf.ts'
import { readPdf } from './pdf-text.ts'

const contextOf = (owner: string) => ({
  egress: undefined as never,
  signal: new AbortController().signal,
  now: () => new Date(),
  owner,
})

it(
  'F64: a PDF that takes too much ends its reader, and those of others are read',
  { timeout: 240_000 },
  async () => {
    const worst = new Map(worstPdfs(createRandom(43)))
    const states = Buffer.from(worst.get('states, 50 KB') ?? '', 'latin1')
    const began = performance.now()
    const [ended, read] = await Promise.all([
      readPdf(contextOf('attacker'), states),
      readPdf(contextOf('neighbour'), Buffer.from(createPdf(['Twelve people work here.']))),
    ])
    expect(ended).toEqual({
      ok: false,
      message: expect.stringMatching(/^the document takes too (long|much memory) to read$/),
    })
    expect(read).toMatchObject({ ok: true, text: expect.stringContaining('Twelve people') })
    const first = performance.now() - began
    // The PDF is not tried again.
    expect(await readPdf(contextOf('attacker'), states)).toEqual(ended)
    expect(performance.now() - began).toBeLessThan(first + 1_000)
  },
)
