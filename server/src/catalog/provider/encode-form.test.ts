import fc from 'fast-check'
import { expect, it } from 'vitest'
import { encodeForm } from './encode-form.ts'

it.each([
  '',
  'acme.example',
  'Ada Lovelace',
  "a+b&c=d/e?f#g%h!'()*~-._",
  'Zoë 日本 \u{1f600}',
  '\ud800 alone',
  '\r\n\0',
])('%j is written as URLSearchParams writes it', (text) => {
  expect(encodeForm(text)).toBe(new URLSearchParams([['', text]]).toString().slice(1))
})

it('any text is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(encodeForm(text)).toBe(new URLSearchParams([['', text]]).toString().slice(1))
    }),
  )
})
