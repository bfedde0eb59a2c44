import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { newId } from '../ids.ts'
import { createSealer } from './secrets.ts'
import { createLinkSigner } from './signed-links.ts'

const links = createLinkSigner([randomBytes(32)])
const link = { orgId: newId(), fileId: newId(), expiresAt: new Date(1_800_000_000_123) }

describe('signed links', () => {
  it('are read by the server that signed them, and by no other', () => {
    const token = links.sign(link)
    expect(links.read(token)).toEqual(link)
    expect(createLinkSigner([randomBytes(32)]).read(token)).toBeNull()
  })

  it('signed before a rotation are read as long as the old secret is listed, and new ones by the new one alone', () => {
    const [before, during, after] = ['old', 'new,old', 'new'].map((secret) =>
      createLinkSigner(createSealer(secret).derive('links')),
    )
    const old = before?.sign(link) ?? ''
    expect([during?.read(old), after?.read(old)]).toEqual([link, null])
    const fresh = during?.sign(link) ?? ''
    expect([before?.read(fresh), after?.read(fresh)]).toEqual([null, link])
  })

  it('signed URLs refuse every altered bit', () => {
    const bytes = Buffer.from(links.sign(link), 'base64url')
    const accepted = Array.from({ length: bytes.length * 8 }, (_, bit) => {
      const altered = Buffer.from(bytes)
      altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      return links.read(altered.toString('base64url'))
    }).filter((read) => read !== null)
    expect([bytes.length, accepted]).toEqual([72, []])
  })

  it.each(['', 'x', '='.repeat(96), 'A'.repeat(96), 'A'.repeat(95), 'A'.repeat(97), `${'A'.repeat(95)}\n`])(
    'refuse %j',
    (token) => {
      expect(links.read(token)).toBeNull()
    },
  )

  it('have one spelling: blanks, padding and the other alphabet are refused', () => {
    const token = links.sign(link)
    for (const spelling of [` ${token}`, `${token}=`, `${token} `, token.slice(0, -1), `${token}A`]) {
      expect(links.read(spelling)).toBeNull()
    }
  })
})
