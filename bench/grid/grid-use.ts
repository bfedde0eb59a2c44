import type { Page } from 'playwright-core'

/** Scrolls the grid like a hand on a wheel, and waits until the rows at the end are shown. */
export async function scrollGrid(page: Page, turns: number, pixels: number): Promise<void> {
  const grid = page.getByRole('grid', { name: 'Rows' })
  const box = await grid.boundingBox()
  if (box === null) throw new Error('there is no grid to scroll')
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
  for (let turn = 0; turn < turns; turn += 1) {
    await page.mouse.wheel(0, pixels)
    await nextFrame(page)
  }
  await shownRows(page)
}

async function nextFrame(page: Page): Promise<void> {
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => resolve(null)))')
}

/** Returns the numbers of the visible rows, once all of them have their values. */
export async function shownRows(page: Page): Promise<number[]> {
  const indexes: (string | null)[] = await page.evaluate(`new Promise((resolve) => {
    const look = () => {
      const rows = [...document.querySelectorAll('[role=grid] [role=row]')]
      const isWhole = rows.length > 5 && document.querySelector('[role=gridcell][aria-busy]') === null
      if (isWhole) resolve(rows.map((row) => row.getAttribute('aria-rowindex')))
      else requestAnimationFrame(look)
    }
    look()
  })`)
  return indexes.map((index) => Number(index) - 1).filter((row) => row > 0)
}

/** Waits for a cell with this name. Returns the time at which it was drawn. */
export function whenDrawn(page: Page, name: string): Promise<number> {
  return page.evaluate(`new Promise((resolve) => {
    const isThere = () => document.querySelector('[role=gridcell][aria-label=' + CSS.escape(${JSON.stringify(name)}) + ']') !== null
    const drawn = () => requestAnimationFrame(() => setTimeout(() => resolve(Date.now())))
    if (isThere()) return drawn()
    const observer = new MutationObserver(() => {
      if (!isThere()) return
      observer.disconnect()
      drawn()
    })
    observer.observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ['aria-label'] })
  })`)
}
