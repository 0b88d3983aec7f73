/** Elements. Text always becomes a text node, so nothing in a row is read as markup. */

export type Child = Node | string | null | undefined | false

export type Properties = Record<
  string,
  string | number | boolean | null | undefined | ((event: Event) => void)
>

/** @param properties attributes; `onclick` and the like are listeners; `true` is an attribute without a value */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue
    if (typeof value === 'function') element.addEventListener(name.slice(2), value)
    else element.setAttribute(name, value === true ? '' : String(value))
  }
  element.append(...present(children))
  return element
}

export function show(place: Element, ...children: Child[]): void {
  place.replaceChildren(...present(children))
}

function present(children: Child[]): (Node | string)[] {
  return children.filter(child => child !== null && child !== undefined && child !== false)
}

let made = 0

/** An id, for attributes such as `aria-labelledby`. */
export function newId(): string {
  return `e${++made}`
}
