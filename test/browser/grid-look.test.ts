import { afterEach, describe, expect, it } from 'vitest'
import { axeFindings, problems, startDashboard } from './dashboard.ts'

const dashboard = await startDashboard()
const { app } = dashboard

afterEach(() => {
  expect(problems.splice(0), 'scripts that threw, or that the policy refused').toEqual([])
})

describe('G10: the look of the grid', { timeout: 300_000 }, () => {
  it('addresses are links that a click only selects, booleans are marks, times are local, long texts fade', async () => {
    const org = await app.makeOrg()
    const id: string = (await org.call('POST', '/workflows', { name: 'Look' })).body.data.workflow_id
    const sheet = `/workflows/${id}/sheets/${id}`
    await org.call('POST', `${sheet}/inputs`, [
      { name: 'site', type: 'url' },
      { name: 'mail', type: 'email' },
      { name: 'client', type: 'boolean' },
      { name: 'met', type: 'date' },
      { name: 'about', type: 'string' },
    ])
    const about = 'Sells anvils to coyotes in the desert. '.repeat(5)
    const met = '2026-03-01T10:30:00Z'
    await org.call('POST', `${sheet}/rows`, {
      rows: [{ site: 'https://acme.example/', mail: 'ada@acme.example', client: 'true', met, about }],
    })
    const page = await dashboard.open(org, sheet)
    const link = page.getByRole('link', { name: 'https://acme.example/' })
    expect(await link.getAttribute('href')).toBe('https://acme.example/')
    expect(await page.getByRole('link', { name: 'ada@acme.example' }).getAttribute('href')).toBe(
      'mailto:ada@acme.example',
    )
    await link.click()
    await page.getByRole('gridcell', { name: 'https://acme.example/' }).and(page.locator(':focus')).waitFor()
    expect(page.context().pages(), 'a click opens nothing').toHaveLength(1)
    await page.getByRole('gridcell', { name: 'true', exact: true }).getByText('✓').waitFor()
    const time = page.locator('time', { hasText: '2026-03-01' })
    expect(await time.getAttribute('title')).toBe('2026-03-01 10:30:00 UTC')
    const long = page.getByRole('gridcell', { name: /^Sells anvils/ })
    expect(
      await long.evaluate((cell: never) => {
        const read = (
          globalThis as unknown as { getComputedStyle: (...of: unknown[]) => Record<string, string> }
        ).getComputedStyle
        return [read(cell)['textOverflow'], read(cell, '::after')['backgroundImage']?.slice(0, 15)]
      }),
    ).toEqual(['clip', 'linear-gradient'])
    expect(await axeFindings(page), 'grid').toEqual([])
    await page.context().close()
  })
})
