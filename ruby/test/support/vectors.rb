# frozen_string_literal: true

# The files of spec/vectors, and the one that Ruby writes.
module Vectors
  FOLDER = File.expand_path("../../../spec/vectors", __dir__)
  OWN = File.join(FOLDER, "entries.ruby.json")
  CREATED = 1_700_000_000_000

  # Levels are a matter of the writer; one shows that Ruby can.
  COMPRESSORS = { "none" => "none", "zstd 1" => "zstd:1" }.freeze

  # Facts of a header that values.json does not vary.
  HEADERS = {
    "expires" => { expires: CREATED + 60_000 },
    "fresh until" => { fresh_until: CREATED + 30_000 },
    "three tags" => { tags: [["users", 7], ["", 0], ["shop:é", (2**64) - 1]] },
    "everything, zstd 3" => {
      expires: CREATED + 60_000, fresh_until: CREATED + 30_000, tags: [["users", 7]],
      compressor: "zstd"
    }
  }.freeze

  module_function

  # The rows of a file.
  def rows(name) = JSON.parse(File.read(File.join(FOLDER, name)), max_nesting: false)

  # What Ruby writes: every value in every serializer that takes it.
  def own_text
    lines = rows("values.json").flat_map do |row|
      row["serializers"].product(COMPRESSORS.to_a).map do |serializer, (title, compressor)|
        name = "#{row["name"]}, #{serializer}, #{title}"
        line(name, row["value"], serializer: serializer, compressor: compressor)
      end
    end
    lines += HEADERS.map { |name, header| line(name, "a value", **header) }
    "[\n#{lines.join(",\n")}\n]\n"
  end

  def line(name, tagged, **header)
    header = {
      serializer: "messagepack", compressor: "none", created: CREATED, expires: 0,
      fresh_until: nil, tags: []
    }.merge(header)
    value = Tagged.load(tagged)
    entry = Polycache::Native.encode_entry(value, header)
    JSON.generate(
      {
        name: name, entry: entry.unpack1("H*"), **header,
        compressor: header[:compressor].split(":").first,
        tags: header[:tags].map { |tag, generation| [tag, generation.to_s] },
        # Long texts stay short; a decimal gets the form that Ruby writes.
        value: Tagged.repeat?(tagged) ? tagged : Tagged.dump(value)
      },
      max_nesting: 0
    )
  end
end
