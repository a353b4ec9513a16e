// The five texts of the page with the least contrast to what is behind them, by the formula of WCAG 2.
;() => {
  const channels = (color) => color.match(/[\d.]+/g).map(Number)
  const linear = (channel) => {
    const value = channel / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  }
  const luminance = ([red, green, blue]) =>
    0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
  const behind = (element) => {
    const color = channels(getComputedStyle(element).backgroundColor)
    return color[3] === 0 && element.parentElement ? behind(element.parentElement) : color
  }
  const contrast = (element) => {
    const ink = getComputedStyle(element)[element.closest('svg') ? 'fill' : 'color']
    const [high, low] = [luminance(channels(ink)), luminance(behind(element))].sort((a, b) => b - a)
    return (high + 0.05) / (low + 0.05)
  }
  const texts = 'p, li, th, td, td span, a, b, .chip, .badge, svg text'
  return [...document.querySelectorAll(texts)]
    .map((element) => ({
      ratio: contrast(element),
      kind: element.className,
      text: element.textContent.slice(0, 40),
    }))
    .sort((a, b) => a.ratio - b.ratio)
    .slice(0, 5)
}
