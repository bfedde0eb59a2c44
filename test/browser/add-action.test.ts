import { afterEach, expect, it } from 'vitest'
import { axeFindings, problems, startDashboard } from './dashboard.ts'
import { makeSheet } from './steps.ts'

const dashboard = await startDashboard()
const { app } = dashboard

afterEach(() => {
  expect(problems.splice(0), 'scripts that threw, or that the policy refused').toEqual([])
})

it('H8: the gallery suggests, finds, says what is needed, and remembers; all by keyboard', async () => {
  const org = await app.makeOrg()
  const sheet = await makeSheet(org, 'Gallery', ['https://www.acme.example/', 'https://b.example'])
  const page = await dashboard.open(org, `${sheet}?add`)
  const gallery = page.getByRole('dialog', { name: 'Add action' })
  const search = gallery.getByRole('searchbox', { name: 'Search actions' })
  const option = gallery.getByRole('option')
  const suggested = gallery.getByRole('group', { name: 'Suggested for this sheet' })
  await suggested
    .getByRole('option', { name: /^Normalize domain 0 credits "domain" holds addresses/ })
    .waitFor()
  expect(await gallery.getByRole('group', { name: 'Recently used' }).count()).toBe(0)
  expect(await option.count()).toBe(app.services.catalogue.list().length)
  expect(await axeFindings(page)).toEqual([])

  // An option says in words what it asks and needs, its price, and whether a key is there.
  await search.fill('hunter')
  await option.filter({ hasText: /^Find work email.*Asks Hunter/ }).waitFor()
  expect(await option.allInnerTexts().then((texts) => texts.join('\n'))).not.toMatch(/[a-z]_[a-z]|[{}`]/)
  await search.fill('people at company')
  expect(await option.first().innerText()).toMatch(/Find people at company\s+2 credits\s+Needs key/)
  await search.fill('qqqq')
  await gallery.getByText('No action matches “qqqq”').waitFor()

  // A category by its radio button, and back to all by the search.
  await gallery.getByRole('radio', { name: 'All actions' }).focus()
  for (let step = 0; step < 7; step += 1) await page.keyboard.press('ArrowDown')
  await gallery.getByRole('group', { name: 'CRM' }).waitFor()
  expect(await gallery.getByRole('group', { name: 'Data' }).count()).toBe(0)
  await search.fill('gpt')
  expect(await option.first().innerText()).toMatch(/^AI generate/)

  // A suggestion comes with its inputs: Enter takes the one that is marked.
  await search.fill('')
  await search.press('ArrowDown')
  await search.press('ArrowUp')
  await search.press('Enter')
  const panel = page.getByRole('region', { name: 'Action Normalize domain' })
  await panel.getByRole('button', { name: 'Save', exact: true }).click()
  const addedInputs = async () =>
    (await org.call('GET', `${sheet}/actions/normalize_domain_1`)).body.data?.inputs
  await expect.poll(addedInputs).toEqual({ value: '{{input.domain}}' })

  await page.goto(new URL(`${sheet}?add`, dashboard.url).href)
  await gallery
    .getByRole('group', { name: 'Recently used' })
    .getByRole('option', { name: /^Normalize domain/ })
    .waitFor()
  await page.context().close()
})
