import { type ReactNode, useLayoutEffect } from 'react'

/** The layout of every screen: one `h1`, which is also the title of the tab, and the content. */
export function Page({
  title,
  actions,
  hasNoControls = false,
  children,
}: {
  title: string
  actions?: ReactNode
  /** Makes the page itself focusable, so that keys scroll it. Set it if the content has no controls. */
  hasNoControls?: boolean
  children?: ReactNode
}) {
  useTitle(title)
  return (
    <main
      id="content"
      tabIndex={hasNoControls ? 0 : -1}
      className="min-h-0 min-w-0 flex-1 overflow-y-auto outline-offset-[-2px]"
    >
      <div className="mx-auto flex max-w-[1120px] flex-col gap-4 px-4 py-4 md:px-6">
        <header className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2">
          <h1 className="min-w-0 text-20 font-semibold wrap-anywhere">{title}</h1>
          <div className="flex flex-wrap items-center gap-2 empty:hidden">{actions}</div>
        </header>
        {children}
      </div>
    </main>
  )
}

export function useTitle(title: string): void {
  // Set before painting, so that the title changes together with the heading.
  useLayoutEffect(() => {
    document.title = `${title} · Loam`
  }, [title])
}
