import { expect, it } from 'vitest'
import { FAST_PARTS, isOn, readFastParts, switchOff } from './fast-parts.ts'

it('LOAM_WITHOUT names parts, separated by commas; all means every part', () => {
  expect(readFastParts('')).toEqual([])
  expect(readFastParts('peek, handed-rows')).toEqual(['peek', 'handed-rows'])
  expect(readFastParts('all')).toEqual(Object.keys(FAST_PARTS))
})

it('an unknown part is refused with the list of names', () => {
  expect(() => readFastParts('peek,handed-row')).toThrow(
    `handed-row is no fast part (${Object.keys(FAST_PARTS).join(', ')}); did you mean handed-rows?`,
  )
})

it('a part is on unless it is switched off, and the switch is restored', () => {
  const restore = switchOff(['peek'])
  expect([isOn('peek'), isOn('handed-rows')]).toEqual([false, true])
  const restoreInner = switchOff([])
  expect(isOn('peek')).toBe(true)
  restoreInner()
  expect(isOn('peek')).toBe(false)
  restore()
  expect(isOn('peek')).toBe(true)
})
