import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { buildDashboard, isDashboardBuilt } from './dashboard-build.mjs'

const root = mkdtempSync(join(tmpdir(), 'loam-test-build-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const write = (path: string, text: string) => writeFileSync(join(root, path), text)
const page = () => readFileSync(join(root, 'dashboard/dist/index.html'), 'utf8')

for (const folder of ['dashboard/src', 'contract']) mkdirSync(join(root, folder), { recursive: true })
symlinkSync(join(process.cwd(), 'node_modules'), join(root, 'node_modules'))
write('package-lock.json', '{}')
write('contract/names.ts', "export const PRODUCT = 'Loam'\n")
write('dashboard/index.html', '<title>First</title><script type="module" src="/src/main.ts"></script>')
write(
  'dashboard/src/main.ts',
  "import { PRODUCT } from '../../contract/names.ts'\ndocument.title = PRODUCT\n",
)

it('a checkout without the dashboard needs no build', () => {
  expect(isDashboardBuilt(root)).toBe(true)
  write('dashboard/vite.config.ts', 'export default {}\n')
  expect(isDashboardBuilt(root)).toBe(false)
})

it('the dashboard is built once, and again when its sources, the contract or the lock file have changed', async () => {
  expect(await buildDashboard(root)).toBeNull()
  expect(page()).toContain('/assets/')
  expect(isDashboardBuilt(root)).toBe(true)
  write('contract/names.ts', "export const PRODUCT = 'Another'\n")
  expect(isDashboardBuilt(root)).toBe(false)
  write('contract/names.ts', "export const PRODUCT = 'Loam'\n")
  write('package-lock.json', '{ "changed": true }')
  expect(isDashboardBuilt(root)).toBe(false)
  write('package-lock.json', '{}')
  expect(isDashboardBuilt(root)).toBe(true)
  write('dashboard/index.html', '<title>Second</title><script type="module" src="/src/main.ts"></script>')
  expect(await buildDashboard(root)).toBeNull()
  expect([page(), isDashboardBuilt(root)]).toEqual([expect.stringContaining('Second'), true])
})

it('a failed build returns the reason and keeps the previous one', async () => {
  write('dashboard/src/main.ts', "import './missing.ts'\n")
  expect(await buildDashboard(root)).toContain('missing.ts')
  expect([page(), isDashboardBuilt(root)]).toEqual([expect.stringContaining('Second'), false])
  expect(existsSync(join(root, 'dashboard/dist.partial'))).toBe(false)
})
