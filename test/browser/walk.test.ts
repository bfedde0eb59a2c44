import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startTutorialService } from '../doubles/tutorial-service.ts'
import { atEnd } from '../plumbing/at-end.ts'
import { problems, startDashboard } from './dashboard.ts'
import { findUnfitTexts } from './unfit-texts.ts'
import { walkTutorial } from './walk.ts'

/** The clicks that a person may need from a file of leads to an enriched one. */
const MAX_CLICKS = 45

const service = await startTutorialService()
atEnd(() => service.stop())
const dashboard = await startDashboard(service.settings)
const folder = mkdtempSync(join(tmpdir(), 'loam-walk-'))
atEnd(() => rmSync(folder, { recursive: true, force: true }))

it('Show of H1 to H17: 200 messy leads are enriched, capped, mended and exported with at most 45 clicks', async () => {
  const leads = join(folder, 'leads.csv')
  writeFileSync(leads, await (await fetch(`${service.url}/leads.csv`)).text())
  const page = await dashboard.open(await dashboard.app.makeOrg(), '/workflows')
  const unfit: [string, string[]][] = []
  const { clicks, typed, file } = await walkTutorial({
    page,
    service: service.url,
    leads,
    picture: async (name) => {
      const found = await findUnfitTexts(page)
      if (found.length > 0) unfit.push([name, found])
    },
  })
  expect(unfit, 'texts that are not for people').toEqual([])
  expect(clicks).toBeLessThanOrEqual(MAX_CLICKS)
  expect(typed).toBeLessThanOrEqual(8)
  const [head = '', ...rows] = readFileSync(file, 'utf8').trim().split(/\r?\n/)
  expect(head).toMatch(
    /^Name,Website,Email,Employees,Normalize domain: domain,.*Tags: formatted_data,City: formatted_data,/,
  )
  expect(rows).toHaveLength(200)
  // The row of an archived company was mended; that of a blank website got its domain from the email.
  expect(rows[3]).toMatch(/company3\.example.*Lyon.*Congratulations on the new office in Lyon/)
  expect(rows[2]).toMatch(/^ALAN Lovelace,,Alan@COMPANY2\.EXAMPLE,26,company2\.example,/)
  expect(problems.splice(0)).toEqual([])
  await page.context().close()
}, 300_000)
