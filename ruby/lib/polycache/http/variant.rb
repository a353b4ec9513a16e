# frozen_string_literal: true

require_relative "entity_tag"

module Polycache
  module HTTP
    # A representation in one content coding, with the header fields that are made of it.
    # @api private
    class Variant
      # What was selected: its entity tag, header fields of 200 and of 304, and the parts of the
      # body.
      Selected = Struct.new(:etag, :fields, :not_modified, :body, :described, :aged)

      # What conditions need: the entity tag, nil for what has none, and header fields of 304.
      Validated = Struct.new(:etag, :not_modified)

      # Header fields of 200, and the parts of the body.
      Whole = Struct.new(:fields, :body)

      attr_reader :bytes

      # @param bytes [String] which nobody changes
      # @param etag [String, nil] nil: a hash of these very bytes, so each variant has its own (RFC
      #   9110 8.8.3.3)
      def initialize(bytes, coding, content_type, etag)
        @bytes = bytes.freeze
        @coding = coding
        @content_type = content_type
        @etag = etag
        @last = nil
      end

      def etag = @etag ||= EntityTag.of(@bytes)

      # By a policy and an age, nil for what is current. The last one is kept, for a server has one
      # policy for a value.
      #
      # @return [Selected]
      def selected(policy, age)
        of, at, selected = @last
        return selected if policy.equal?(of) && age == at

        selected = make(policy, age)
        @last = [policy, age, selected]
        selected
      end

      private

      def make(policy, age)
        aged = age ? { **policy.always, "age" => age.to_s } : policy.always
        described = @content_type.empty? ? {} : { "content-type" => @content_type }
        described["content-encoding"] = @coding unless @coding == "identity"
        described.update(aged)
        tag = { "etag" => etag }
        fields = { **described, **tag, "content-length" => @bytes.bytesize.to_s }
        Selected.new(etag, fields, { **aged, **tag }, [@bytes], described, aged)
      end
    end
    private_constant :Variant
  end
end
