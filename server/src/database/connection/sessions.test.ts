import { expect, it } from 'vitest'
import { startTransactionPooler } from '#test/doubles/transaction-pooler.ts'
import { makeDatabase } from '#test/plumbing/harness.ts'
import { requireSessions } from './sessions.ts'

const url = await makeDatabase()

it('F65: a database that is reached directly keeps sessions', async () => {
  await requireSessions(url)
})

it.each([1, 2, 5])(
  'F65: a pooler in transaction mode with %d connections is found out',
  async (connections) => {
    const pooled = await startTransactionPooler(url, connections)
    await expect(requireSessions(pooled)).rejects.toThrow('do not survive a transaction, as behind a pooler')
  },
)
