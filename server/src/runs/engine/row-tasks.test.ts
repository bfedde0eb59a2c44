import { expect, it } from 'vitest'
import { createRowTasks } from './row-tasks.ts'
import { makeFlightApp } from './testing/flight-store-fixture.ts'
import { makeEngine } from './testing/test-engine.ts'

const app = await makeFlightApp()
const tasks = createRowTasks(app.store, makeEngine(app))
const ID = '01890000-0000-7000-8000-000000000001'

it.each([
  ['row', { o: ID, r: ID }, 't: '],
  ['row', { o: ID, r: '{a,b}', t: 1 }, 'r: '],
  ['express', { o: ID, r: ID, t: 1, b: 'x' }, 'b: '],
  ['rows', { o: ID, r: [ID, 7], t: 1 }, 'r.1: '],
  ['rows', null, 'payload: '],
] as const)(
  'a job of kind %s with the payload %j is refused by the name of its field',
  async (kind, payload, field) => {
    await expect(tasks[kind](payload, 1)).rejects.toThrow(
      `the payload of a job of rows is malformed: ${field}`,
    )
  },
)

it('a job whose flight no longer exists is finished', async () => {
  await expect(tasks.row({ o: ID, r: ID, t: 1 }, 1)).resolves.toBeUndefined()
  await expect(tasks.rows({ o: ID, r: [ID], t: 1 }, 1)).resolves.toBeUndefined()
})
