import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { rowsOf } from '#test/builders/rows.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { runLoam } from '../testing/loam.ts'

const app = await makeApp()
const folder = mkdtempSync(join(tmpdir(), 'loam-cli-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const ENV = { DATABASE_URL: app.databaseUrl, LOAM_SECRET: 'a secret for tests only', LOAM_DATA_DIR: folder }
const org = await app.makeOrg()
const { addRows, makeSheet } = rowsOf(org)

it('G3, G4: `loam row list` sorts by columns, and lists the rows of a view', async () => {
  const base = await makeSheet(['name', 'n'])
  const sheet = base.slice(-36)
  await addRows(base, [
    { name: 'b', n: '10' },
    { name: 'a', n: '9' },
    { name: 'c', n: '9' },
  ])
  const filters = [{ variable: '{{input.n}}', operator: 'is', values: ['9'] }]
  const sort = [{ variable: '{{input.name}}', direction: 'desc' }]
  const view = (await org.call('POST', `${base}/views`, { name: 'Nine', filters, sort })).body.data.view_id
  const list = async (...args: string[]) => {
    const { exit, stdout, stderr } = await runLoam(['row', 'list', '--sheet', sheet, ...args, '--json'], ENV)
    return exit === 0 ? JSON.parse(stdout).rows.map((row: Json) => row.inputs.name) : JSON.parse(stderr)
  }
  expect(await list()).toEqual(['b', 'a', 'c'])
  expect(await list('--sort', 'input.n,input.name:desc')).toEqual(['c', 'a', 'b'])
  expect(await list('--sort', 'input.name', '--page', '2', '--page-size', '2')).toEqual(['c'])
  expect(await list('--view', view)).toEqual(['c', 'a'])
  expect(await list('--view', view, '--sort', 'input.name')).toEqual(['a', 'c'])
  expect(await list('--sort', 'input.z')).toMatchObject({ errors: [{ field: '--sort' }] })
  const { stdout } = await runLoam(['row', 'list', '--sheet', sheet], ENV)
  expect(stdout).toMatch(/STATUS[\s\S]*pending[\s\S]*3 rows in all/)
})
