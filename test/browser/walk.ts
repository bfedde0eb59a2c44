import type { Locator, Page } from 'playwright-core'

/** A person at a page: counts clicks, and fields that are typed in. Keys that confirm a list count as clicks. */
export function createPerson(page: Page) {
  const done = { clicks: 0, typed: 0 }
  return {
    done,
    click: async (target: Locator) => {
      done.clicks += 1
      await target.click()
    },
    open: async (target: Locator) => {
      done.clicks += 2
      await target.dblclick()
    },
    type: async (target: Locator, text: string) => {
      done.typed += 1
      await target.click()
      await page.keyboard.type(text)
    },
    choose: async (key: 'Enter') => {
      done.clicks += 1
      await page.keyboard.press(key)
    },
  }
}

export type Walk = {
  page: Page
  /** The address of the service that stands for the register, the finders and the model. */
  service: string
  leads: string
  /** Keeps a picture of each step that the tutorial shows. */
  picture: (name: string) => Promise<void>
}
type Person = ReturnType<typeof createPerson>

const LEADS = 200

/** Walks from a file of messy leads to an enriched file, as the tutorial tells it. Returns what it took and the file. */
export async function walkTutorial(walk: Walk) {
  const { page } = walk
  const person = createPerson(page)
  await importLeads(walk, person)
  await addDomain(walk, person)
  await addCompany(walk, person)
  await addEmail(walk, person)
  await addModel(walk, person)
  await runCapped(walk, person)
  await mend(walk, person)
  await pullValues(walk, person)
  const file = await exportSheet(walk, person)
  return { ...person.done, file }
}

const panelOf = (page: Page, name: string) =>
  page.getByRole('region', { name: `Action ${name}`, exact: true })

async function save({ page }: Walk, person: Person, name: string): Promise<void> {
  const button = panelOf(page, name).getByRole('button', { name: 'Save', exact: true })
  await person.click(button)
  // The panel of a new action gives way to that of the saved one, which has nothing to save.
  await button.and(page.locator(':disabled')).waitFor()
  await page.getByRole('region', { name: 'Notifications' }).getByText(`Saved ${name}`).first().waitFor()
}

async function importLeads({ page, leads, picture }: Walk, person: Person): Promise<void> {
  const chooser = page.waitForEvent('filechooser')
  await person.click(page.getByRole('button', { name: 'Start from a file' }))
  await (await chooser).setFiles(leads)
  await page.getByRole('table', { name: 'Preview' }).waitFor()
  await picture('import')
  await person.click(page.getByRole('button', { name: 'Start import' }))
  await page
    .getByRole('status')
    .filter({ hasText: `${LEADS} rows imported` })
    .waitFor()
  await person.click(page.getByRole('link', { name: 'Show the rows' }))
  await page.getByRole('status', { name: 'Row count' }).getByText(`${LEADS} rows`).waitFor()
}

async function addDomain(walk: Walk, person: Person): Promise<void> {
  const { page } = walk
  await person.click(page.getByRole('button', { name: 'Add action' }))
  const suggested = page.getByRole('group', { name: 'Suggested for this sheet' })
  await suggested.getByRole('option').first().waitFor()
  await walk.picture('gallery')
  await person.click(suggested.getByRole('option', { name: /^Normalize domain.*"Website" and "Email"/ }))
  const panel = panelOf(page, 'Normalize domain')
  await panel
    .getByRole('group', { name: 'Preview' })
    .getByText('company0.example', { exact: true })
    .first()
    .waitFor()
  await person.click(panel.getByRole('button', { name: `Save and run ${LEADS} rows` }))
  await page.getByRole('gridcell', { name: 'Complete: company0.example' }).waitFor()
}

async function addCompany(walk: Walk, person: Person): Promise<void> {
  const { page, service } = walk
  await person.click(page.getByRole('button', { name: 'Add action' }))
  await person.type(page.getByRole('searchbox', { name: 'Search actions' }), 'http')
  await person.choose('Enter')
  const panel = panelOf(page, 'HTTP API call')
  await person.click(panel.getByRole('combobox', { name: 'Method' }))
  await person.click(page.getByRole('option', { name: 'GET', exact: true }))
  await person.type(panel.getByRole('textbox', { name: 'URL' }), `${service}/company?domain={{domain`)
  await page.getByRole('listbox', { name: 'References' }).getByRole('option').first().waitFor()
  await person.choose('Enter')
  await person.click(panel.getByRole('button', { name: 'Test', exact: true }))
  await panel.getByRole('status', { name: 'Answer' }).getByText('Lisbon').waitFor()
  await walk.picture('http')
  await save(walk, person, 'HTTP API call')
}

async function addEmail(walk: Walk, person: Person): Promise<void> {
  const { page } = walk
  await person.click(page.getByRole('button', { name: 'Add action' }))
  const suggested = page.getByRole('group', { name: 'Suggested for this sheet' })
  await person.click(suggested.getByRole('option', { name: /^Find work email/ }))
  const providers = panelOf(page, 'Find work email').getByRole('list', { name: 'Email providers' })
  await providers.getByRole('listitem').first().waitFor()
  await walk.picture('waterfall')
  await save(walk, person, 'Find work email')
}

async function addModel(walk: Walk, person: Person): Promise<void> {
  const { page } = walk
  await person.click(page.getByRole('button', { name: 'Add action' }))
  await person.type(page.getByRole('searchbox', { name: 'Search actions' }), 'gpt')
  await person.choose('Enter')
  const panel = panelOf(page, 'AI generate')
  await panel.getByRole('combobox', { name: 'Model' }).and(page.locator('[value="tiny"]')).waitFor()
  await person.type(
    panel.getByRole('textbox', { name: 'Prompt' }),
    'Rate how well this company fits us: {{domain',
  )
  await person.choose('Enter')
  const fields = panel.getByRole('group', { name: 'Answer fields' })
  await person.click(fields.getByRole('button', { name: 'Paste an example' }))
  await person.type(
    fields.getByRole('textbox', { name: 'Example' }),
    '{"industry": "Retail", "fit_score": 7, "opening_line": "Hello"}',
  )
  await person.click(fields.getByRole('button', { name: 'Use' }))
  await fields.getByRole('group', { name: 'Field 3' }).waitFor()
  await walk.picture('model')
  await save(walk, person, 'AI generate')
}

async function runCapped(walk: Walk, person: Person): Promise<void> {
  const { page } = walk
  await person.click(page.getByRole('button', { name: 'Run', exact: true }))
  await person.click(page.getByRole('menuitem', { name: 'All rows' }))
  const dialog = page.getByRole('dialog', { name: 'Run rows' })
  await dialog.getByText(/^Estimate: at most/).waitFor()
  await person.type(dialog.getByLabel('Spend at most'), '300')
  await walk.picture('run')
  await person.click(dialog.getByRole('button', { name: 'Run', exact: true }))
  await page
    .getByRole('status', { name: 'Last run' })
    .getByText(`${LEADS} of ${LEADS} rows, 10 failed`)
    .waitFor()
}

/** Continues the rows without credits, finds out why others failed, corrects the call, and runs only those again. */
async function mend(walk: Walk, person: Person): Promise<void> {
  const { page } = walk
  await person.click(page.getByRole('link', { name: 'Runs', exact: true }))
  await person.click(page.getByRole('button', { name: 'Resume' }))
  const resume = page.getByRole('dialog', { name: 'Resume run' })
  await person.type(resume.getByLabel('Spend at most'), '900')
  await person.click(resume.getByRole('button', { name: 'Resume' }))
  await page.getByText(/rows? ran out of credits/).waitFor({ state: 'detached' })
  const latest = page.getByRole('table', { name: 'Runs', exact: true }).getByRole('row').nth(1)
  await latest.filter({ hasText: `${LEADS} of ${LEADS}` }).waitFor()
  const causes = page.getByRole('table', { name: 'Failures by cause' })
  await causes.getByRole('row').nth(1).waitFor()
  await walk.picture('causes')
  await person.click(causes.getByRole('button', { name: 'Show rows' }))
  await page.getByRole('status', { name: 'Row count' }).getByText(`10 of ${LEADS} rows`).waitFor()
  await person.open(page.getByRole('gridcell', { name: /^Failed: / }).first())
  const cell = page.getByRole('region', { name: /^Cell HTTP API call/ })
  await cell.getByRole('group', { name: 'Error' }).waitFor()
  await walk.picture('failed')
  await person.click(cell.getByRole('button', { name: 'Configure' }))
  const url = panelOf(page, 'HTTP API call').getByRole('textbox', { name: 'URL' })
  await url.focus()
  await page.keyboard.press('Control+End')
  person.done.typed += 1
  await page.keyboard.type('&archived=true')
  await save(walk, person, 'HTTP API call')
  await person.click(page.getByRole('button', { name: 'Run', exact: true }))
  await person.click(page.getByRole('menuitem', { name: 'Failed rows' }))
  const dialog = page.getByRole('dialog', { name: 'Run rows' })
  await dialog.getByText(/^10 rows/).waitFor()
  await person.click(dialog.getByRole('button', { name: 'Run', exact: true }))
  await page.getByRole('status', { name: 'Last run' }).getByText('10 of 10 rows').waitFor()
  await person.click(page.getByRole('button', { name: /^Remove filter/ }))
  await page.getByRole('status', { name: 'Row count' }).getByText(`${LEADS} rows`, { exact: true }).waitFor()
}

async function pullValues(walk: Walk, person: Person): Promise<void> {
  const { page } = walk
  await person.open(page.getByRole('gridcell', { name: 'Complete: 0', exact: true }).first())
  const cell = page.getByRole('region', { name: /^Cell HTTP API call/ })
  for (const [path, column] of [
    ['address › city', 'City'],
    ['tags › 0', 'Tags'],
  ] as const) {
    const actions = cell.getByRole('group', { name: `Actions for ${path}`, exact: true })
    await cell
      .getByRole('treeitem')
      .filter({ has: page.getByRole('group', { name: `Actions for ${path}`, exact: true }) })
      .hover()
    await person.click(actions.getByRole('button', { name: 'Add as column' }))
    await page.getByRole('columnheader', { name: column }).waitFor()
  }
  await page.getByRole('gridcell', { name: 'Complete: Lisbon' }).first().waitFor()
  await walk.picture('values')
}

async function exportSheet({ page }: Walk, person: Person): Promise<string> {
  await person.click(page.getByRole('link', { name: 'Export', exact: true }))
  await person.click(page.getByRole('button', { name: 'Start export' }))
  const download = page.waitForEvent('download')
  await person.click(page.getByRole('link', { name: 'Download' }))
  return (await download).path()
}
