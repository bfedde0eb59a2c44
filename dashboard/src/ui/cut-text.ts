/** The pause of the pointer over a text after which it is looked at, so that scrolling measures nothing. */
const PAUSE_MS = 150

/** Shows texts that are cut off as tooltips, wherever they are on the page. */
export function showCutText(): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  document.addEventListener('mouseover', ({ target }) => {
    clearTimeout(timer)
    if (target instanceof HTMLElement) timer = setTimeout(() => addTitle(target), PAUSE_MS)
  })
}

function addTitle(target: HTMLElement): void {
  if (target.closest('[title]') !== null) return
  const cut = [target, target.parentElement].find((element) => element !== null && isCut(element))
  if (cut === null || cut === undefined) return
  cut.title = cut.textContent
  // The elements of the grid are used again for other rows.
  cut.addEventListener('mouseleave', () => cut.removeAttribute('title'), { once: true })
}

function isCut(element: HTMLElement): boolean {
  const { textOverflow, webkitLineClamp } = getComputedStyle(element)
  return (
    (textOverflow === 'ellipsis' && element.scrollWidth > element.clientWidth) ||
    (webkitLineClamp !== 'none' && element.scrollHeight > element.clientHeight + 1)
  )
}
