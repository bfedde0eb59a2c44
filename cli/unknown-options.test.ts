import { expect, it } from 'vitest'
import { runLoam } from './testing/loam.ts'

it.each([
  [['key', 'create', '--emial', 'ann@example.com'], "unknown option '--emial'"],
  [['org', 'create', '--nmae', 'Acme'], "unknown option '--nmae'"],
  [['credits', 'grant', '--amuont', '5'], "unknown option '--amuont'"],
  [['estimate', '--shet', 'x'], "unknown option '--shet'"],
  [['key', 'create'], 'required option'],
])('loam %j names an unknown option before one that is missing', async (args, words) => {
  const { exit, stderr } = await runLoam(args, {})
  expect([exit, stderr]).toEqual([2, expect.stringContaining(words)])
})
