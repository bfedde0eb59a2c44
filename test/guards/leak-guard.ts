import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect } from 'vitest'
import { beginFile, beginTests, closeAll } from '../plumbing/at-end.ts'

/** The resources that a server, a process and a thread keep open. */
const KINDS = ['TCPServerWrap', 'PipeServerWrap', 'ProcessWrap', 'MessagePort']
const PATIENCE_MS = 20_000

function countOpen(): Record<string, number> {
  const open = process.getActiveResourcesInfo()
  return Object.fromEntries(KINDS.map((kind) => [kind, open.filter((one) => one === kind).length]))
}

beginFile()
beforeAll(beginTests)
const before = countOpen()
const isMore = () => Object.entries(countOpen()).some(([kind, count]) => count > (before[kind] ?? 0))

// Files share a process: a file that leaves something open fails before it disturbs the files after it. The
// hook that was registered first runs last, after all hooks of the file.
afterAll(async () => {
  await closeAll()
  const deadline = Date.now() + PATIENCE_MS
  while (isMore() && Date.now() < deadline) await sleep(10)
  if (isMore()) expect(countOpen(), 'left open by the tests of this file').toEqual(before)
})
